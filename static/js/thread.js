import { fetchThread } from './api.js';
import { returnFocus } from './focus.js';
import { updateTimes } from './message_times.js';
import { addCodeActions, arrange, page } from './page.js';

/**
 * Update the messages of this conversation to the server's state, from one of them on. Equal messages stay as
 * they are, which keeps the place in the page, the selection and the focus.
 * @param {string} since  the id of the first message to update; '': the newest page of messages
 * @returns {Promise<string|null>} the version that is shown now; '' if it could not be fetched; null if a
 *   message that would be removed is in use
 */
export async function updateThread(chat, since) {
  const address = page.url('conversation', page.conversation);
  const last = chat.thread.lastElementChild;
  const found = await fetchThread(since ? `${address}?since=${since}` : address).catch(() => null);
  if (!found || chat.busy || chat.thread.lastElementChild !== last) return ''; // a turn made meanwhile is not in it
  addCodeActions(found);
  if (!mergeThread(chat, found, isInUse)) return null;
  updateTimes(chat.thread);
  chat.setUpArticles();
  chat.followEnd();
  return found.dataset.version;
}

/** Draw the fenced code of a question as the server does. */
export async function drawCode(chat, question) {
  const found = await fetchThread(`${page.url('conversation', page.conversation)}?since=${question.dataset.message}`);
  const text = found.querySelector(`#${question.id} > [data-part=text]`);
  addCodeActions(text);
  question.querySelector('[data-part=text]').replaceChildren(...text.childNodes);
  chat.followEnd();
}

/**
 * Show another version of a message, with what follows it. Its end stays under the pointer that chose it.
 * @param {HTMLElement} article  the version that is shown
 * @param {string} version  the id of the other one
 * @returns {Promise<HTMLElement|null>} its article
 */
export async function showVersion(chat, article, version) {
  const last = chat.thread.lastElementChild;
  const found = await fetchThread();
  if (chat.busy || chat.thread.lastElementChild !== last) return null;
  const { bottom } = article.getBoundingClientRect();
  addCodeActions(found);
  mergeThread(chat, found, () => false);
  updateTimes(chat.thread);
  const chosen = document.getElementById(`m-${version}`);
  if (chosen) scrollBy(0, chosen.getBoundingClientRect().bottom - bottom);
  chat.setUpArticles();
  chat.startSync(); // the line above which the model reads nothing may have moved
  return chosen;
}

/** @returns {boolean} false if a message that would be removed is in use */
function mergeThread({ thread, composer }, found, isInUse) {
  const fresh = Array.from(found.querySelectorAll('.message'));
  const shown = Array.from(thread.querySelectorAll('.message'));
  const { at, keptCount } = compareIds(idsOf(shown), idsOf(fresh));
  const known = shown.slice(Math.max(0, at));
  const removed = known.slice(keptCount);
  if (removed.some(isInUse)) return false;
  const hadFocus = known.some((article) => article.contains(document.activeElement));
  if (at < 0) thread.querySelector('.older')?.remove();
  for (const article of removed) article.remove();
  known.slice(0, keptCount).forEach((article, n) => mergeArticle(article, fresh[n]));
  if (fresh.length > keptCount) thread.querySelector('.latest')?.classList.remove('latest');
  if (at < 0) thread.replaceChildren(...found.childNodes);
  else thread.append(...fresh.slice(keptCount));
  if (hadFocus && document.activeElement === document.body) composer.focus();
  return true;
}

function idsOf(articles) {
  return articles.map(({ id }) => id);
}

/**
 * Return where the server's messages begin among those on the page (-1: nowhere), and how many stay.
 * @param {string[]} shown  '' for a message without an id
 * @param {string[]} fresh
 */
export function compareIds(shown, fresh) {
  const at = shown.findIndex((id) => id && id === fresh[0]);
  if (at < 0) return { at, keptCount: 0 };
  const apart = shown.slice(at).findIndex((id, n) => id !== fresh[n]);
  return { at, keptCount: apart < 0 ? shown.length - at : apart };
}

/** Return whether a part of the article is selected, or it is being edited. */
function isInUse(article) {
  const selection = getSelection();
  return article.querySelector('.edit') !== null || (!selection.isCollapsed && selection.containsNode(article, true));
}

/** Update an article. In a reply that was continued, equal blocks stay, and with them a selection in them. */
function mergeArticle(article, fresh) {
  const changed = ['run', 'status'].some((name) => article.dataset[name] !== fresh.dataset[name]);
  if (changed && article.matches('.reply')) {
    const [text, now] = [article, fresh].map((each) => each.querySelector(':scope > [data-part=text]'));
    const known = Array.from(text.children);
    arrange(text, Array.from(now.children, (block, n) => (known[n]?.isEqualNode(block) ? known[n] : block.cloneNode(true))));
    copySiblings(text, now);
    Object.assign(article.dataset, fresh.dataset);
  } else if (versionLabel(article) !== versionLabel(fresh)) article.querySelector('.message-footer').replaceWith(fresh.querySelector('.message-footer'));
}

function versionLabel(article) {
  return article.querySelector('.versions')?.ariaLabel ?? '';
}

/** Give an element the siblings of another one. */
export function copySiblings(element, other) {
  const nodes = Array.from(other.parentNode.childNodes);
  const at = nodes.indexOf(other);
  for (const node of Array.from(element.parentNode.childNodes)) if (node !== element) node.remove();
  element.before(...nodes.slice(0, at));
  element.after(...nodes.slice(at + 1));
}

/**
 * Request another version of a reply, from the model that the page is set to.
 * @returns {Promise<boolean>} whether the server accepted it
 */
export async function regenerate(chat, button, more = {}) {
  const reply = button.closest('article');
  const url = page.url('regenerate', reply.dataset.message);
  const accepted = await replaceFrom(chat, reply, { url, body: { ...chat.composer.choice, ...more } });
  if (!accepted) returnFocus(button);
  return accepted;
}

/**
 * Begin a turn on a new branch, which replaces this article and all that follow it.
 * @param {object} turn  the argument of `chat.requestReply`
 * @returns {Promise<boolean>} whether the server accepted it
 */
export async function replaceFrom(chat, article, turn) {
  const articles = Array.from(chat.thread.querySelectorAll('.message'));
  const replaced = articles.slice(articles.indexOf(article));
  const accepted = await chat.requestReply({ ...turn, replaced });
  if (accepted) updateCounts(chat).catch((error) => console.warn('The version counts are not updated:', error));
  return accepted;
}

/** Update the version counts, which only the server knows. The new messages are the last two until a turn follows. */
async function updateCounts(chat) {
  const created = Array.from(chat.thread.querySelectorAll('.message')).slice(-2);
  const current = await fetchThread();
  for (const article of created) {
    const { message } = article.dataset;
    const versions = message && current.querySelector(`[data-message="${message}"] .versions`);
    if (versions) article.querySelector('.versions').replaceWith(versions);
  }
  chat.updateTurnButtons();
}
