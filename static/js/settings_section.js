import { copyText } from './clipboard.js';

const RESULT_SHOWN_MS = 2_000; // how long a button shows its result
const PROGRESS_MS = 1_500; // between two looks at an import

/**
 * Set up what a part of a page has: buttons that copy and that show a password, settings that are stored as they are
 * changed, drawn file fields, and an import that goes on.
 * @param {() => void} reload  shows the part again, as the server has it now
 */
export function setUp(root, reload = () => location.reload()) {
  for (const button of root.querySelectorAll('[data-copies]')) addCopying(button);
  for (const button of root.querySelectorAll('[data-shows]')) addShowing(button);
  for (const input of root.querySelectorAll('.file-button input')) input.addEventListener('change', () => showName(input));
  const forms = root.querySelectorAll('form[data-saves]');
  if (forms.length) import('./settings_rows.js').then((module) => forms.forEach(module.saveAtOnce));
  const bar = root.querySelector('#import-progress');
  if (bar) followImport(bar, reload);
}

/** Let a button copy a field or a text. */
function addCopying(button) {
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

/** Let a button show what is typed into a password field, and hide it again. */
function addShowing(button) {
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

/** Show the name of a chosen file: the field is behind our button. */
function showName(input) {
  const name = input.closest('.file-field').querySelector('[data-part=file-name]');
  if (name) name.textContent = input.files[0]?.name ?? '';
}

/** Follow an import: update its progress bar, and show the part again when its state changes. */
function followImport(bar, reload) {
  const look = async () => {
    if (!bar.isConnected) return undefined; // another section of the dialog
    const response = await fetch(bar.dataset.url, { headers: { 'X-Requested-With': 'fetch' } });
    const job = response.ok ? (await response.json()).import : null;
    if (job?.state !== bar.dataset.state) return reload();
    if (job.total) Object.assign(bar, { max: job.total, value: job.done });
    return schedule();
  };
  // An unreachable server is polled again without a message, because the import does not need this page.
  const schedule = () => setTimeout(() => look().catch(schedule), PROGRESS_MS);
  schedule();
}
