import { fetchPart, postJson } from './api.js';
import { cloneTemplate, page } from './page.js';

let shortcuts = null;
let dialog = null; // of the tags
let onChange = () => {};

/**
 * Open the tags of a conversation in a dialog. If they cannot be loaded, their page is opened.
 * @param {() => void} changed  called after each change
 */
export async function openTags(conversation, changed) {
  onChange = changed;
  const url = `${page.url('conversation', conversation)}tags/`;
  const part = await fetchPart(url).catch(() => null);
  if (!part) return location.assign(url);
  dialog ??= create();
  dialog.dataset.url = url;
  show(part);
  if (!dialog.open) dialog.showModal();
  dialog.querySelector('[name=tag]:not([type=hidden])')?.focus();
}

function create() {
  const created = createDialog(document.querySelector('[data-opens=tags]').textContent);
  const part = document.createElement('div');
  part.dataset.part = 'tags';
  const error = Object.assign(document.createElement('p'), { className: 'error', role: 'alert' });
  created.querySelector('h2').after(part, error);
  created.addEventListener('submit', onSubmit);
  return created;
}

function show(part) {
  dialog.querySelector('[data-part=tags]').replaceChildren(part);
  dialog.querySelector('.error').textContent = '';
}

/** Save a change of the tags, and render them again. The browser itself handles the form that closes the dialog. */
async function onSubmit(event) {
  if (event.target.method === 'dialog') return;
  event.preventDefault();
  const { action, conversations, tag } = Object.fromEntries(new FormData(event.target));
  const { error } = await postJson(page.url('list'), { action, conversations: [conversations], tag });
  if (error) return (dialog.querySelector('.error').textContent = error.message || page.text('not-saved'));
  onChange();
  show(await fetchPart(dialog.dataset.url).catch(() => ''));
  (dialog.querySelector('[name=tag]:not([type=hidden])') ?? dialog.querySelector('.buttons button')).focus();
}

/** Open the table of all keyboard shortcuts. If it cannot be loaded, the link's page is opened. */
export async function openShortcuts(link) {
  if (shortcuts?.open) return;
  shortcuts ??= await loadShortcuts(link.href).catch(() => null);
  if (shortcuts) shortcuts.showModal();
  else location.assign(link.href);
}

async function loadShortcuts(url) {
  const table = await fetchPart(url);
  const created = createDialog();
  created.querySelector('h2').after(table);
  return created;
}

/** @param {string} [title]  none: the table of shortcuts' */
function createDialog(title) {
  const created = cloneTemplate('shortcuts-template');
  const heading = created.querySelector('h2');
  if (title) {
    Object.assign(heading, { id: 'tags-heading', textContent: title });
    created.setAttribute('aria-labelledby', heading.id);
  }
  document.body.append(created);
  return created;
}
