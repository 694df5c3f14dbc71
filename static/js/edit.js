import { complain, giveBack, isHeldBy } from './answers.js';
import { replace } from './branches.js';
import { Outbox, sends } from './composer.js';
import { copy } from './transcript.js';

/** The bubble becomes a box. What is written there outlives a reload, until it is sent or given up. */
export function open(chat, button) {
  const article = button.closest('article');
  if (article.querySelector('.edit')) return;
  const form = copy('edit-template');
  const box = form.elements.content;
  const drafts = Outbox.open(chat.page.user);
  box.value = drafts.draft(nameOf(article)) || article.querySelector('[data-part=text]').textContent;
  box.addEventListener('keydown', (event) => pressed(event, form));
  box.addEventListener('input', () => {
    fit(box);
    drafts.keep(nameOf(article), box.value);
  });
  article.append(form);
  fit(box);
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
}

/** A new branch begins with this; the old one stays, a version further back. */
export async function save(chat, form) {
  const article = form.closest('article');
  const box = form.elements.content;
  if (!box.value.trim()) return box.focus();
  if (chat.busy) return complain(article, chat.page.say('wait'));
  const url = chat.page.url('edit', article.dataset.message);
  const content = box.value;
  const body = { content, model: chat.composer.model };
  const taken = await replace(chat, article, { url, body, question: content });
  if (taken) Outbox.open(chat.page.user).keep(nameOf(article), '');
  else giveBack(box);
}

export function cancel(chat, button) {
  const article = button.closest('article');
  Outbox.open(chat.page.user).keep(nameOf(article), '');
  const form = article.querySelector('.edit');
  const held = isHeldBy(form);
  form.remove();
  if (held) article.querySelector('[data-action=edit]').focus();
}

function pressed(event, form) {
  if (event.key === 'Escape' && !event.isComposing) form.querySelector('[data-action=cancel]').click();
  else if (sends(event)) form.requestSubmit();
  else return;
  event.preventDefault();
}

function fit(box) {
  if (CSS.supports('field-sizing', 'content')) return;
  box.style.blockSize = 'auto';
  box.style.blockSize = `${box.scrollHeight}px`;
}

function nameOf(article) {
  return `edit-${article.dataset.message}`;
}
