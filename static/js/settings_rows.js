import { page } from './page.js';

const NOTE_SHOWN_MS = 2_500;
const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const root = document.documentElement;

// What is seen of a choice at once. The rest of the page shows it when it is next loaded.
const EFFECTS = {
  theme: showTheme,
  text_size: (size) => (size === 'normal' ? delete root.dataset.textSize : (root.dataset.textSize = size)),
  enter: (key) => (root.dataset.enter = key), // the hint below the box says so once it is loaded again
  language: () => location.reload(),
  time_zone: (zone) => import('./local_times.js').then((module) => module.showLocalTimes(zone || BROWSER_ZONE), () => {}),
};

function showTheme(theme) {
  root.dataset.theme = theme;
  document.querySelector('meta[name=color-scheme]').content = theme === 'system' ? 'light dark' : theme;
  const bars = document.querySelectorAll('meta[name=theme-color]'); // the color of what the browser has around the page
  for (const bar of bars) bar.content = getComputedStyle(document.body).backgroundColor;
}

/** Store each control of this form when it is changed, and say so. If that fails, the stored value is shown again. */
export function saveAtOnce(form) {
  const names = Array.from(form.elements, ({ name }) => name).filter(Boolean);
  const stored = new Map(names.map((name) => [name, valueOf(form, name)]));
  const status = addStatus(form);
  let queue = Promise.resolve(); // one after the other: the last choice is the one that stays

  const save = (name) => {
    const value = valueOf(form, name);
    queue = queue.then(() => store(name, value));
  };
  const store = async (name, value) => {
    if (stored.get(name) === value) return;
    const row = rowOf(form, name);
    row.querySelector('.error')?.remove();
    status.textContent = '';
    const refusal = await post(form, { [name]: value });
    if (refusal) return showRefusal(form, name, refusal, stored.get(name));
    stored.set(name, value);
    status.textContent = form.dataset.saved;
    showNote(row, form.dataset.saved);
    EFFECTS[name]?.(value);
  };

  form.addEventListener('change', ({ target }) => save(target.name));
  form.addEventListener('submit', (event) => event.preventDefault()); // Enter in a control
  addEventListener('pagehide', () => form.isConnected && texts(form).forEach(({ name }) => save(name)));
}

function valueOf(form, name) {
  return form.elements[name].value;
}

function rowOf(form, name) {
  const control = form.elements[name];
  return (control.closest ? control : control[0]).closest('.setting');
}

function texts(form) {
  return Array.from(form.querySelectorAll('textarea'));
}

function addStatus(form) {
  const status = Object.assign(document.createElement('p'), { className: 'hidden', role: 'status' });
  form.append(status);
  return status;
}

/** @returns {Promise<string>} '' or what went wrong */
async function post(form, body) {
  const response = await page.post(form.action, body, { keepalive: true }).catch(() => null);
  if (response?.ok) return '';
  const answer = await response?.json().catch(() => null);
  return answer?.error?.message ?? form.dataset.failed;
}

/** Put the control back, unless it is a text, which would be lost, or was changed again. Say why. */
function showRefusal(form, name, refusal, before) {
  if (!texts(form).some((text) => text.name === name)) form.elements[name].value = before;
  const error = Object.assign(document.createElement('p'), { className: 'error', role: 'alert' });
  rowOf(form, name).append(error);
  error.textContent = refusal;
  form.dispatchEvent(new CustomEvent('unsaved', { bubbles: true }));
}

/** Show beside the name of a setting that it is saved. Screen readers hear it from the status. */
function showNote(row, text) {
  row.querySelector('.setting-note')?.remove();
  const note = Object.assign(document.createElement('span'), { className: 'setting-note', ariaHidden: 'true', textContent: text });
  row.querySelector('.setting-name').after(note);
  setTimeout(() => note.remove(), NOTE_SHOWN_MS);
}
