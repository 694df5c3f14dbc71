import { showError } from './api.js';
import { fitHeight, isSendKey, isTouch } from './composer.js';
import { drafts, textOf } from './drafts.js';
import { EditDrafts } from './edit_drafts.js';
import { mayMoveFocus, returnFocus } from './focus.js';
import { cloneTemplate, page } from './page.js';
import { replaceFrom } from './thread.js';

const edits = new EditDrafts(drafts);
addEventListener('pagehide', () => document.querySelectorAll('.edit').forEach((form) => saveDraft(form, true)));

/** Turn a question into a box to edit it. Its text survives a reload, until it is sent or cancelled. */
export function openEdit(chat, button) {
  const article = button.closest('article');
  if (article.querySelector('.edit')) return;
  const box = createForm(chat, article);
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
}

/** Reopen the edits that were in progress in this tab. The edit that had the focus gets it again. */
export function reopenEdits(chat) {
  for (const message of edits.messages) {
    const article = chat.thread.querySelector(`#m-${message}`);
    if (!article || article.querySelector('.edit')) continue;
    const { start, end, held } = edits.find(message);
    const box = createForm(chat, article);
    if (!held) continue;
    box.setSelectionRange(start, end);
    box.scrollIntoView({ block: 'nearest' });
    if (!isTouch()) returnFocus(box);
  }
}

/** @returns {HTMLTextAreaElement} with the text of the edit in this or another tab, if there is one */
function createForm(chat, article) {
  const form = cloneTemplate('edit-template');
  const box = form.elements.content;
  const found = edits.find(article.dataset.message);
  form.source = found?.source;
  box.value = found?.text ?? article.querySelector('[data-part=text]').textContent;
  box.addEventListener('keydown', (event) => onKeydown(event, form));
  box.addEventListener('input', () => fitHeight(box));
  article.append(form);
  fitHeight(box);
  addFileButton(form);
  const attachments = found?.attachments;
  if (attachments || article.querySelector('.pictures, .documents')) {
    import('./attachments.js').then((module) => module.editTray(chat, form, attachments));
  }
  saveDraft(form);
  form.addEventListener('input', () => saveDraft(form));
  return box;
}

/** Offer to add files where the message box does. */
function addFileButton(form) {
  const button = document.querySelector('.attach')?.cloneNode(true);
  if (!button) return;
  button.querySelector('input').removeAttribute('id');
  form.querySelector('[data-action=cancel]').before(button);
}

/** @param {boolean} leaving  true: also keep the caret's position, unless the edit was removed on sign-out */
function saveDraft(form, leaving = false) {
  const message = form.closest('article')?.dataset.message;
  if (!message || (leaving && !edits.messages.includes(message))) return; // an upload may end after it was cancelled
  const { selectionStart: start, selectionEnd: end } = form.elements.content;
  const caret = leaving && { start, end, held: form.contains(document.activeElement) };
  edits.save(message, { text: textOf(form), source: form.source, attachments: form.attachments?.draft, ...caret });
}

/** Send the edit as a new branch. The old question stays as an earlier version. */
export async function submitEdit(chat, form) {
  const article = form.closest('article');
  const box = form.elements.content;
  const tray = form.attachments;
  if (chat.loading || (tray && !tray.isReady())) return undefined;
  if (!box.value.trim() && !tray?.size) return box.focus();
  if (chat.busy) return showError(article, page.text('wait'), 'busy');
  const url = page.url('edit', article.dataset.message);
  const content = box.value;
  const body = { content, ...chat.composer.choice };
  const accepted = await replaceFrom(chat, article, { url, body, question: content, attachments: tray?.attachments });
  if (accepted) edits.remove(article.dataset.message);
  else returnFocus(box);
}

export function cancelEdit(chat, button) {
  const article = button.closest('article');
  edits.remove(article.dataset.message);
  const form = article.querySelector('.edit');
  const hadFocus = mayMoveFocus(form);
  form.remove();
  page.clearNotice('files-wait', 'files-missing');
  if (hadFocus) article.querySelector('[data-action=edit]').focus();
}

function onKeydown(event, form) {
  if (event.key === 'Escape' && !event.isComposing) form.querySelector('[data-action=cancel]').click();
  else if (!isSendKey(event)) return;
  else if (!event.repeat) form.requestSubmit();
  event.preventDefault();
}
