import { fetchPart, postJson } from './api.js';
import { copyText } from './clipboard.js';
import { page } from './page.js';

const RESULT_SHOWN_MS = 2_000; // how long a button shows its result

let dialog = null;
let address = ''; // what renders the dialog's inside

/**
 * Share a chat in a dialog: make a link, which is copied at once, copy one again, revoke one. If it cannot be loaded, the
 * page to share is opened.
 * @param {HTMLFormElement} form  leads to that page
 */
export async function openShare(form) {
  address = form.action;
  dialog ??= create();
  if (!(await render())) return location.assign(address);
  if (!dialog.open) dialog.showModal();
  dialog.querySelector('[data-part=create]').focus();
}

function create() {
  const made = Object.assign(document.createElement('dialog'), { className: 'dialog', id: 'share-dialog' });
  made.setAttribute('aria-labelledby', 'share-heading');
  made.addEventListener('submit', onSubmit);
  made.addEventListener('click', ({ target }) => {
    const button = target.closest('[data-part=copy]');
    if (button) copy(button);
    if (target === made) made.close(); // beside it
  });
  document.body.append(made);
  return made;
}

async function render() {
  const part = await fetchPart(address).catch(() => null);
  if (part) dialog.replaceChildren(part);
  return part !== null;
}

/** @param {SubmitEvent} event  of the form of a new link, or of the one that revokes a link */
function onSubmit(event) {
  const { target: form } = event;
  if (form.method === 'dialog') return;
  event.preventDefault();
  if (form.contains(form.elements.title)) createLink(form);
  else revoke(form);
}

/** Create a link and copy it: the clipboard gets its promise, because Safari lets only the click itself copy. */
async function createLink(form) {
  const { days, title, name, steps } = form.elements;
  const shown = { name: name.checked, steps: Boolean(steps?.checked) };
  const made = postJson(form.action, { days: days.value, title: title.value, ...shown });
  const copied = await copyText(made.then(({ data }) => data?.url ?? Promise.reject(new Error('no link'))));
  const { error } = await made;
  if (error) return say(error.message || page.text('not-done'));
  await render();
  const { dataset } = status();
  say(copied ? dataset.created : dataset.notCopied);
  return dialog.querySelector('[data-part=copy]')?.focus();
}

async function copy(button) {
  const label = button.textContent;
  const copied = await copyText(button.value);
  if (!copied) button.parentElement.querySelector('input').select();
  const { dataset } = status();
  button.textContent = copied ? dataset.copied : label;
  say(copied ? dataset.copied : page.text('not-copied'));
  setTimeout(() => (button.textContent = label), RESULT_SHOWN_MS);
}

async function revoke(form) {
  const { error } = await postJson(form.action);
  if (error) return say(error.message || page.text('not-done'));
  await render();
  return dialog.querySelector('[data-part=create]').focus();
}

function status() {
  return dialog.querySelector('[role=status]');
}

function say(sentence) {
  status().textContent = sentence;
}
