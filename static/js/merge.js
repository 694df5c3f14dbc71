import { furnish, nodesOf } from './transcript.js';

/**
 * Update the messages of this conversation to the server's state, from one of them on. Equal messages stay as
 * they are, which keeps the place in the page, the selection and the focus.
 * @param {object} chat  chat.js's controller
 * @param {string} since  the id of the first message to update; '': the newest page of messages
 * @returns {Promise<string|null>} the version that is shown now; '' if it could not be fetched; null if a
 *   message that would be removed is in use
 */
export async function renew(chat, since) {
  const found = await fetched(chat, since);
  if (!found || chat.busy) return '';
  furnish(found);
  if (!bring(chat, found)) return null;
  chat.arrived();
  chat.hold();
  return found.dataset.version;
}

async function fetched(chat, since) {
  const address = chat.page.url('conversation', chat.page.conversation);
  const options = { headers: { 'X-Requested-With': 'fetch', Accept: 'text/html' }, credentials: 'same-origin' };
  const response = await fetch(since ? `${address}?since=${since}` : address, options).catch(() => null);
  if (!response?.ok || response.redirected) return null;
  return nodesOf(await response.text()).querySelector('#thread');
}

/** @returns {boolean} false if a message that would be removed is in use */
function bring({ thread, composer }, found) {
  const fresh = Array.from(found.querySelectorAll('.message'));
  const shown = Array.from(thread.querySelectorAll('.message'));
  const at = shown.findIndex(({ id }) => id && id === fresh[0]?.id);
  const known = shown.slice(Math.max(0, at));
  const same = at < 0 ? 0 : known.findIndex(({ id }, n) => id !== fresh[n]?.id);
  const kept = same < 0 ? known.length : same;
  const gone = known.slice(kept);
  if (gone.some(isUsed)) return false;
  const held = known.some((article) => article.contains(document.activeElement));
  if (at < 0) thread.querySelector('.older')?.remove();
  for (const article of gone) article.remove();
  known.slice(0, kept).forEach((article, n) => merge(article, fresh[n]));
  if (fresh.length > kept) thread.querySelector('.fresh')?.classList.remove('fresh');
  if (at < 0) thread.replaceChildren(...found.childNodes);
  else thread.append(...fresh.slice(kept));
  if (held && document.activeElement === document.body) composer.focus();
  return true;
}

/** Return whether a part of the article is selected, or it is being edited. */
function isUsed(article) {
  const selection = getSelection();
  return article.querySelector('.edit') !== null || (!selection.isCollapsed && selection.containsNode(article, true));
}

/** Update an article. In a reply that went on, equal blocks stay, and with them a selection in them. */
function merge(article, fresh) {
  const went = ['run', 'status'].some((name) => article.dataset[name] !== fresh.dataset[name]);
  if (went && article.matches('.reply')) {
    const [text, now] = [article, fresh].map((each) => each.querySelector(':scope > [data-part=text]'));
    blocks(text, Array.from(now.children));
    surround(text, now);
    Object.assign(article.dataset, fresh.dataset);
  } else if (label(article) !== label(fresh)) article.querySelector('.foot').replaceWith(fresh.querySelector('.foot'));
}

function label(article) {
  return article.querySelector('.versions')?.ariaLabel ?? '';
}

function blocks(container, wanted) {
  wanted.forEach((block, n) => {
    const known = container.children[n];
    if (!known) container.append(block.cloneNode(true));
    else if (!known.isEqualNode(block)) known.replaceWith(block.cloneNode(true));
  });
  while (container.children.length > wanted.length) container.lastElementChild.remove();
}

/** Give an element the siblings of another one. */
export function surround(element, other) {
  const nodes = Array.from(other.parentNode.childNodes);
  const at = nodes.indexOf(other);
  for (const node of Array.from(element.parentNode.childNodes)) if (node !== element) node.remove();
  element.before(...nodes.slice(0, at));
  element.after(...nodes.slice(at + 1));
}
