import { fetchHtml, postJson } from './api.js';
import { parseTrustedHtml } from './page.js';

let dialog = null;
let onChange = () => {};

/**
 * Open the tags of a conversation in a dialog. If they cannot be loaded, their page is opened.
 * @param {() => void} changed  called after each change
 */
export async function openTags(page, conversation, changed) {
  onChange = changed;
  const url = `${page.url('conversation', conversation)}tags/`;
  const html = await fetchHtml(url).catch(() => '');
  if (!html) return location.assign(url);
  dialog ??= create(page);
  dialog.dataset.url = url;
  show(html);
  if (!dialog.open) dialog.showModal();
  dialog.querySelector('[name=tag]:not([type=hidden])')?.focus();
}

function create(page) {
  const { content } = document.getElementById('shortcuts-template');
  const created = content.firstElementChild.cloneNode(true);
  const heading = created.querySelector('h2');
  heading.id = 'tags-heading';
  heading.textContent = document.querySelector('[data-opens=tags]').textContent;
  created.setAttribute('aria-labelledby', heading.id);
  const part = document.createElement('div');
  part.dataset.part = 'tags';
  const error = document.createElement('p');
  error.className = 'error';
  error.role = 'alert';
  heading.after(part, error);
  created.addEventListener('submit', (event) => onSubmit(page, event));
  document.body.append(created);
  return created;
}

function show(html) {
  dialog.querySelector('[data-part=tags]').replaceChildren(parseTrustedHtml(html));
  dialog.querySelector('.error').textContent = '';
}

/** Save a change of the tags, and render them again. The browser itself handles the form that closes the dialog. */
async function onSubmit(page, event) {
  if (event.target.method === 'dialog') return;
  event.preventDefault();
  const { action, conversations, tag } = Object.fromEntries(new FormData(event.target));
  const { error } = await postJson(page, page.url('list'), { action, conversations: [conversations], tag });
  if (error) return (dialog.querySelector('.error').textContent = error.message || page.text('not-saved'));
  onChange();
  show(await fetchHtml(dialog.dataset.url).catch(() => ''));
  (dialog.querySelector('[name=tag]:not([type=hidden])') ?? dialog.querySelector('.buttons button')).focus();
}
