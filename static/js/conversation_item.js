import { cloneTemplate, page } from './page.js';

export const MAX_TITLE_LENGTH = 80; // characters

// A conversation in the sidebar's list: <li data-state><a>title<span class="hidden">text of the
// mark</span></a><button>

/** Return the title alone, without the text of a mark. */
export function itemTitle(item) {
  const text = item.querySelector('a').firstChild;
  return text?.nodeType === Node.TEXT_NODE ? text.data : '';
}

export function setTitle(item, title) {
  const link = item.querySelector('a');
  link.replaceChildren(title, ...link.querySelectorAll('.hidden'));
  addMenuButton(item);
}

/** Give a title that is cut off a tooltip. Its size is measured only when the pointer reaches it. */
export function showWhole(link) {
  if (link.scrollHeight > link.clientHeight + 1) link.title = itemTitle(link.parentElement);
  else link.removeAttribute('title');
}

/** @param {''|'replying'|'unseen'} state  shown as a dot, and as a text for screen readers */
export function setState(item, state) {
  if ((item.dataset.state ?? '') === state) return;
  const link = item.querySelector('a');
  link.querySelector('.hidden')?.remove();
  if (state) link.append(hiddenText(page.text(`mark-${state}`)));
  if (state) item.dataset.state = state;
  else delete item.dataset.state;
}

function hiddenText(sentence) {
  const hidden = document.createElement('span');
  hidden.className = 'hidden';
  hidden.textContent = ` – ${sentence}`;
  return hidden;
}

/** Add what the server's list lacks: the button that opens the options of a conversation. */
export function addMenuButton(item) {
  if (!item.querySelector('.options-button')) item.append(cloneTemplate('options-template'));
  item.querySelector('.options-button').ariaLabel = page.text('options', { title: itemTitle(item) });
}

export function isPinned(item) {
  return item !== null && item.closest('[data-group=pinned]') !== null;
}

/** True if the open conversation is in the archive, where the list does not show it. */
export function isArchived() {
  return document.getElementById('chat').dataset.archived !== undefined;
}

export function setArchived(archived) {
  document.getElementById('chat').toggleAttribute('data-archived', archived);
}

/** Let the buttons of a menu say what they do next: the opposite of what was done last. */
export function labelArrangement(menu, { pinned, archived }) {
  for (const [done, name] of [[pinned, 'pin'], [archived, 'archive']]) {
    const button = menu.querySelector(`[data-opens=${name}]`);
    button.value = done ? `un${name}` : name;
    button.textContent = button.dataset[button.value];
  }
}

export function hrefOf(item) {
  return item.querySelector('a').getAttribute('href');
}

export function conversationOf(item) {
  return hrefOf(item).split('/').at(-2);
}

/** Update an item from the server's list. The open conversation shows no mark. */
export function updateItem(item, fresh) {
  const current = item.querySelector('[aria-current]') !== null;
  if (itemTitle(item) !== itemTitle(fresh)) setTitle(item, itemTitle(fresh));
  setState(item, current ? '' : (fresh.dataset.state ?? ''));
}

/** Return the title that the server gives a new conversation: the question's first line, cut at a word. */
export function titleFromQuestion(question) {
  const lines = question.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
  const letters = Array.from(lines.find(Boolean) ?? '');
  if (letters.length <= MAX_TITLE_LENGTH) return letters.join('');
  const head = letters.slice(0, MAX_TITLE_LENGTH - 1);
  const lastSpace = head.lastIndexOf(' ');
  return `${head.slice(0, lastSpace >= 20 ? lastSpace : undefined).join('')}…`;
}
