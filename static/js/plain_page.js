import { copyText } from './clipboard.js';
import { drafts } from './drafts.js';
import { hearTabs, tellSignOut } from './tabs.js';

const RESULT_SHOWN_MS = 2_000; // how long a button shows its result
const PROGRESS_MS = 1_500; // between two looks at an import

// What pages without the chat need, each by the elements that it has.

// What chat.js and sync.js do on theirs when this tab or another signs out.
const signOut = document.getElementById('sign-out');
signOut?.addEventListener('submit', () => drafts.clear());
if (signOut) hearTabs();
else tellSignOut();

// Buttons that copy a field or a text.

for (const button of document.querySelectorAll('[data-copies]')) {
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copies);
    const copied = await copyText(source.value ?? source.textContent);
    if (!copied) source.select?.(); // what remains is the keyboard or the menu of the field
    button.textContent = copied ? button.dataset.copied : button.dataset.notCopied;
    setTimeout(() => (button.textContent = label), RESULT_SHOWN_MS);
  });
}

// Buttons that show what is typed into a password field, and hide it again.

for (const button of document.querySelectorAll('[data-shows]')) {
  const field = document.getElementById(button.dataset.shows);
  const show = (shown) => {
    field.type = shown ? 'text' : 'password';
    button.ariaPressed = String(shown);
  };
  button.hidden = false;
  button.addEventListener('click', () => show(field.type === 'password'));
  // Hide it again: a browser would store the value of a text field for later suggestions.
  field.form.addEventListener('submit', () => show(false));
}

// On a narrow page the sections are one scrolling row: scroll the current one into view.
document.querySelector('.settings-sections [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

// Follow an import: update its progress bar, and reload the page when its state changes.

const bar = document.getElementById('import-progress');

async function updateProgress() {
  const response = await fetch(bar.dataset.url, { headers: { 'X-Requested-With': 'fetch' } });
  const job = response.ok ? (await response.json()).import : null;
  if (job?.state !== bar.dataset.state) return location.reload();
  if (job.total) Object.assign(bar, { max: job.total, value: job.done });
  return schedule();
}

/** An unreachable server is polled again without a message, because the import does not need this page. */
function schedule() {
  setTimeout(() => updateProgress().catch(schedule), PROGRESS_MS);
}

if (bar) schedule();
