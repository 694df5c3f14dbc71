import { copy } from './transcript.js';

// A conversation in the sidebar's list: <li data-state><a>title<span class="hidden">words of the
// mark</span></a><button>

/** Return the title alone, without the words of a mark. */
export function titleOf(item) {
  const text = item.querySelector('a').firstChild;
  return text?.nodeType === Node.TEXT_NODE ? text.data : '';
}

export function setTitle(page, item, title) {
  const link = item.querySelector('a');
  link.replaceChildren(title, ...link.querySelectorAll('.hidden'));
  furnish(page, item);
}

/** @param {''|'replying'|'unseen'} state  shown as a dot, and in words for screen readers */
export function setState(page, item, state) {
  if ((item.dataset.state ?? '') === state) return;
  const link = item.querySelector('a');
  link.querySelector('.hidden')?.remove();
  if (state) link.append(words(page.say(`mark-${state}`)));
  if (state) item.dataset.state = state;
  else delete item.dataset.state;
}

function words(sentence) {
  const hidden = document.createElement('span');
  hidden.className = 'hidden';
  hidden.textContent = ` – ${sentence}`;
  return hidden;
}

/** Add what the server's list lacks: the button that opens the options of a conversation. */
export function furnish(page, item) {
  if (!item.querySelector('.dotted')) item.append(copy('options-template'));
  item.querySelector('.dotted').ariaLabel = page.say('options', { title: titleOf(item) });
}

export function addressOf(item) {
  return item.querySelector('a').getAttribute('href');
}

/** Update an item from the server's list. The open conversation shows no mark. */
export function refresh(page, item, fresh) {
  const current = item.querySelector('[aria-current]') !== null;
  if (titleOf(item) !== titleOf(fresh)) setTitle(page, item, titleOf(fresh));
  setState(page, item, current ? '' : (fresh.dataset.state ?? ''));
}
