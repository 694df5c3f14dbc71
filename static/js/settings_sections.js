/** On a narrow page the sections are one scrolling row: scroll the current one into view. */
document.querySelector('.settings-sections [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
