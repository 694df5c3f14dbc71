import { postJson, saveChange } from './api.js';
import { MAX_TITLE_LENGTH, itemTitle, setArchived } from './conversation_item.js';
import { cloneTemplate, page } from './page.js';
import { tellTabs } from './tabs.js';
import { Toast } from './toast.js';

// What the menus of conversations change. `list` is conversation_list.js's list.

const INPUT_METHOD_KEY_CODE = 229; // WebKit bug 165004, as in composer.js

const toast = new Toast();
let lastDeleted = ''; // the conversation that was last deleted on this page

/**
 * Edit a title in a box that replaces it. Enter and leaving the box save; Escape does not.
 * @param {object} what
 * @param {string} what.conversation
 * @param {HTMLElement} what.shown  is replaced by the box, and gets the focus after Enter and Escape
 * @param {string} what.title
 * @returns {Promise<string>} the title from now on
 */
export function rename({ conversation, shown, title }) {
  const box = cloneTemplate('rename-template');
  box.value = title;
  shown.hidden = true;
  shown.before(box);
  box.focus();
  box.select();
  box.addEventListener('input', () => {
    box.setCustomValidity('');
    const letters = Array.from(box.value);
    if (letters.length > MAX_TITLE_LENGTH) box.value = letters.slice(0, MAX_TITLE_LENGTH).join('');
  });
  return new Promise((resolve) => {
    let ended = false;
    const end = (newTitle, refocus) => {
      if (ended) return;
      ended = true;
      shown.hidden = false;
      box.remove();
      if (refocus) shown.focus();
      resolve(newTitle);
    };
    const save = async (refocus) => {
      if (ended || box.readOnly) return undefined; // removing the box takes the focus from it, and so may saving it
      const wanted = box.value.trim().replace(/\s+/g, ' ');
      if (!wanted || wanted === title) return end(title, refocus);
      box.readOnly = true;
      const error = await saveChange(page.url('rename', conversation), { title: wanted });
      box.readOnly = false;
      if (!error) return end(wanted, refocus);
      box.setCustomValidity(error);
      return box.reportValidity();
    };
    box.addEventListener('keydown', (event) => {
      event.stopPropagation();
      if (event.isComposing || event.keyCode === INPUT_METHOD_KEY_CODE) return;
      if (event.key !== 'Enter' && event.key !== 'Escape') return;
      event.preventDefault();
      if (event.key === 'Enter') save(true);
      else end(title, true);
    });
    box.addEventListener('blur', () => save(false));
  });
}

/** @param {HTMLButtonElement} button  its value: 'pin' or 'unpin' */
export async function pin(list, conversation, { value: action }) {
  if (await arrange(list, action, conversation)) focusOn(list, conversation);
}

/** @param {HTMLButtonElement} button  its value: 'archive' or 'unarchive' */
export async function archive(list, conversation, { value: action }) {
  const changed = await arrange(list, action, conversation);
  if (!changed) return;
  const form = cloneTemplate('deleted-template');
  form.querySelector('p').textContent = changed.message;
  delete form.querySelector('button').dataset.opens; // in the template it names the undo of a deletion
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    toast.close();
    undoArchive(list, conversation, action, changed.undo);
  });
  toast.show(form, { onClose: () => document.getElementById('content').focus() });
}

export async function tags(list, conversation) {
  const { openTags } = await import('./dialogs.js');
  return openTags(conversation, () => {
    tellTabs('');
    list.refresh();
  });
}

/** Undo it with the server's token: a pinned conversation is pinned again, in its former place. */
async function undoArchive(list, conversation, action, undo) {
  const archived = action !== 'archive';
  if (await send(list, { action: 'undo', undo }, conversation, archived)) focusOn(list, conversation);
}

function focusOn(list, conversation) {
  list.find(conversation)?.querySelector('a').focus({ preventScroll: true });
}

function arrange(list, action, conversation) {
  // A pinned conversation is not in the archive, and only one that is not there can be unpinned.
  return send(list, { action, conversations: [conversation] }, conversation, action === 'archive');
}

/** @returns {Promise<object|null>} the server's JSON; null: it failed, and the toast says why */
async function send(list, body, conversation, archived) {
  const { data, error } = await postJson(page.url('list'), body);
  if (error) toast.show(error.message || page.text('not-saved'));
  if (error) return null;
  tellTabs('');
  if (conversation === page.conversation) setArchived(archived);
  await list.refresh();
  return data;
}

/**
 * Delete a conversation, and offer to undo it as long as the toast is shown. If it is the open one, an empty page
 * follows, which still offers that.
 */
export async function remove(list, conversation, _button, byKeyboard) {
  const isOpen = conversation === page.conversation;
  const item = list.find(conversation);
  if (!isOpen) item.hidden = true;
  const error = await saveChange(page.url('delete', conversation));
  if (!error) tellTabs('');
  if (!error && isOpen) return location.assign(`${page.url('home')}?deleted=${conversation}`);
  if (!error) return offerUndo(conversation, item, byKeyboard);
  if (item) item.hidden = false;
  return toast.show(error);
}

function offerUndo(conversation, item, byKeyboard) {
  lastDeleted = conversation;
  const form = cloneTemplate('deleted-template');
  form.action = page.url('undelete', conversation);
  form.querySelector('[data-part=title]').textContent = itemTitle(item);
  const focus = byKeyboard ? form.querySelector('button') : undefined;
  toast.show(form, { focus, onClose: () => nextLink(item)?.focus() });
}

export async function undo(list, form) {
  const error = await saveChange(form.action);
  if (error) return toast.show(error);
  tellTabs('');
  const conversation = new URL(form.action).pathname.split('/').at(-3);
  if (conversation !== lastDeleted) return location.assign(page.url('conversation', conversation));
  const item = list.find(conversation);
  if (item) item.hidden = false;
  else await list.refresh();
  toast.close();
  return list.find(conversation)?.querySelector('a').focus();
}

/** Return the link of the next conversation in the list, else of the last, else the link to a new chat. */
function nextLink(item) {
  const items = Array.from(document.querySelectorAll('#conversations li:not([hidden])'));
  const follows = (other) => item.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const found = items.find(follows) ?? items.at(-1);
  return (found ?? document.querySelector('.sidebar-header')).querySelector('a');
}
