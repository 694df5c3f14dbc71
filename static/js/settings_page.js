import { drafts } from './drafts.js';
import { hearTabs } from './tabs.js';

// On a page of the settings, what chat.js and sync.js do on theirs when this tab or another signs out.
document.getElementById('sign-out').addEventListener('submit', () => drafts.clear());
hearTabs();

// On a narrow page the sections are one scrolling row: scroll the current one into view.
document.querySelector('.settings-sections [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
