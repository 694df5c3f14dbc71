import { complain, giveBack, isHeldBy } from './answers.js';
import { replace } from './branches.js';
import { sends } from './composer.js';
import { Edits } from './edits.js';
import { copy } from './transcript.js';

let edits;
addEventListener('pagehide', () => document.querySelectorAll('.edit').forEach((form) => keep(form, true)));

/** Turn a question into a box to edit it. The text in it survives a reload, until it is sent or given up. */
export function open(chat, button) {
  const article = button.closest('article');
  if (article.querySelector('.edit')) return;
  const box = begin(chat, article);
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
}

/** Reopen the edits that were in progress in this tab. The edit that had the focus gets it again. */
export function reopen(chat) {
  edits ??= new Edits(chat.page.user);
  for (const message of edits.ours) {
    const article = chat.thread.querySelector(`#m-${message}`);
    if (!article || article.querySelector('.edit')) continue;
    const { start, end, held } = edits.find(message);
    const box = begin(chat, article);
    if (!held) continue;
    box.setSelectionRange(start, end);
    box.scrollIntoView({ block: 'nearest' });
    if (!matchMedia('(pointer: coarse)').matches) giveBack(box);
  }
}

/** @returns {HTMLTextAreaElement} with the text of the edit in this or another tab, if there is one */
function begin(chat, article) {
  edits ??= new Edits(chat.page.user);
  const form = copy('edit-template');
  const box = form.elements.content;
  const found = edits.find(article.dataset.message);
  form.source = found?.source;
  box.value = found?.text ?? article.querySelector('[data-part=text]').textContent;
  box.addEventListener('keydown', (event) => pressed(event, form));
  box.addEventListener('input', () => {
    fit(box);
    keep(form);
  });
  article.append(form);
  fit(box);
  keep(form);
  return box;
}

/** @param {boolean} leaving  true: also keep the caret's position, unless the edit was removed on sign-out */
function keep(form, leaving = false) {
  const { message } = form.closest('article').dataset;
  if (leaving && !edits.ours.includes(message)) return;
  const { value: text, selectionStart: start, selectionEnd: end } = form.elements.content;
  const caret = leaving && { start, end, held: form.contains(document.activeElement) };
  edits.keep(message, { text, source: form.source, ...caret });
}

/** Send the edit as a new branch. The old question stays as an earlier version. */
export async function save(chat, form) {
  const article = form.closest('article');
  const box = form.elements.content;
  if (!box.value.trim()) return box.focus();
  if (chat.busy) return complain(article, chat.page.say('wait'), 'busy');
  const url = chat.page.url('edit', article.dataset.message);
  const content = box.value;
  const body = { content, model: chat.composer.model };
  const taken = await replace(chat, article, { url, body, question: content });
  if (taken) edits.forget(article.dataset.message);
  else giveBack(box);
}

export function cancel(chat, button) {
  const article = button.closest('article');
  edits.forget(article.dataset.message);
  const form = article.querySelector('.edit');
  const held = isHeldBy(form);
  form.remove();
  if (held) article.querySelector('[data-action=edit]').focus();
}

function pressed(event, form) {
  if (event.key === 'Escape' && !event.isComposing) form.querySelector('[data-action=cancel]').click();
  else if (!sends(event)) return;
  else if (!event.repeat) form.requestSubmit();
  event.preventDefault();
}

function fit(box) {
  if (CSS.supports('field-sizing', 'content')) return;
  box.style.blockSize = 'auto';
  box.style.blockSize = `${box.scrollHeight}px`;
}
