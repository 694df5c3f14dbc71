import { fetchThread } from './api.js';
import { updateTimes } from './message_times.js';
import { addCodeActions } from './page.js';

const LOAD_MARGIN = '1200px 0px 0px'; // older messages are fetched at this distance above the view

/** Load older messages when the reader comes near the link to them. The link also works without scripts. */
export function watchOlderLink(chat) {
  const link = chat.thread.querySelector('.older');
  if (!link || link.dataset.watched) return;
  link.dataset.watched = 'true';
  const observer = new IntersectionObserver(
    (entries) => entries.some((entry) => entry.isIntersecting) && load(chat, link, observer),
    { rootMargin: LOAD_MARGIN },
  );
  observer.observe(link);
  link.addEventListener('click', (event) => {
    event.preventDefault();
    load(chat, link, observer);
  });
}

/** Load older messages. After a failure only a click tries again, so that a broken server gets no endless requests. */
async function load(chat, link, observer) {
  if (link.ariaBusy === 'true') return;
  link.ariaBusy = 'true';
  observer.disconnect();
  const found = await fetchThread(link.href).catch(() => null);
  link.ariaBusy = 'false';
  if (found && link.isConnected) insert(chat, link, found);
  else link.dataset.failed = 'true';
}

/** Load pages of older messages, so many at most, until the element with this id is there. */
export async function loadUntil(chat, id, pages) {
  for (let page = 0; page < pages && !document.getElementById(id); page++) {
    const link = chat.thread.querySelector('.older');
    if (!link) return;
    link.dataset.watched = link.ariaBusy = 'true'; // keeps the observer from loading it as well
    const found = await fetchThread(link.href).catch(() => null);
    if (found && link.isConnected) insert(chat, link, found);
    link.ariaBusy = 'false';
  }
}

/** Insert a page of older messages as one element: far from the view it costs nothing, however many there are. */
function insert(chat, link, found) {
  const focused = link === document.activeElement;
  const older = found.querySelector('.older');
  const batch = document.createElement('div');
  batch.className = 'history-batch';
  batch.append(...found.querySelectorAll('article, .context-start, .day'));
  addCodeActions(batch);
  chat.updateTurnButtons(batch);
  for (const article of batch.children) article.classList.remove('offscreen');
  holdInPlace(link.parentElement.querySelector('.message'), () => {
    link.replaceWith(...(older ? [older] : []), batch);
    updateTimes(chat.thread);
  });
  if (focused) focusElement(older ?? batch.querySelector('article'));
  chat.reopenEdits();
  watchOlderLink(chat);
  // After it was laid out once, an element keeps its size while it is skipped.
  afterNextFrame(() => [batch, ...batch.querySelectorAll('article')].forEach((element) => element.classList.add('offscreen')));
}

/**
 * Replace the thread by a newly fetched one of this conversation, without a jump.
 * @param {string} message  the id of the message that keeps its place; none: the topmost in view
 * @returns {HTMLElement|null} that message's article
 */
export function replaceThread(chat, found, message) {
  if (!found || chat.busy) return null;
  const restore = rememberPosition(chat.thread, found, message);
  keepOlderPages(chat.thread, found);
  chat.thread.replaceChildren(...found.childNodes);
  updateTimes(chat.thread);
  const article = restore();
  chat.setUpArticles();
  return article;
}

/**
 * Remember the thread's position on the screen; to be called before it changes. The bottom edge of a chosen
 * message stays under the pointer; otherwise the topmost message in view keeps its top edge.
 * @returns {() => HTMLElement|null} restores the position
 */
function rememberPosition(thread, found, message) {
  const articles = Array.from(thread.querySelectorAll('article'));
  const edge = message ? 'bottom' : 'top';
  const common = articles.filter(({ id }) => id && found.querySelector(`#${id}`));
  const inView = common.find((article) => article.getBoundingClientRect().bottom > 0) ?? common.at(-1);
  const before = message ? counterpart(articles, common.at(-1), found, `m-${message}`) : inView;
  const at = before?.getBoundingClientRect()[edge];
  const id = message ? `m-${message}` : before?.id;
  const latest = thread.querySelector('.latest')?.id;
  return () => {
    document.getElementById(latest)?.classList.add('latest');
    const after = document.getElementById(id);
    if (after && at !== undefined) scrollBy(0, after.getBoundingClientRect()[edge] - at);
    return after;
  };
}

/**
 * Return the article with this id, else the article that it replaces: the first
 * one after those that both threads share.
 */
function counterpart(articles, lastCommon, found, id) {
  return articles.find((article) => article.id === id) ?? articles[articles.indexOf(lastCommon) + 1];
}

/** Keep pages of older messages that were already fetched, if the new thread begins where they end. */
function keepOlderPages(thread, found) {
  const first = document.getElementById(found.querySelector('article')?.id);
  if (first?.parentElement !== thread) return;
  found.querySelector('.older')?.remove();
  while (thread.firstElementChild !== first) found.insertBefore(thread.firstElementChild, found.querySelector(`#${first.id}`));
}

/**
 * Change the page above an element, or a range, without moving it on the screen. Safari lacks scroll anchoring.
 * @param {Element|Range|null} element
 */
export function holdInPlace(element, change) {
  const root = document.documentElement;
  const before = element?.getBoundingClientRect().top;
  root.style.overflowAnchor = 'none';
  change();
  if (element) scrollBy(0, element.getBoundingClientRect().top - before);
  afterNextFrame(() => (root.style.overflowAnchor = ''));
}

function focusElement(element) {
  if (!element.matches('a')) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

function afterNextFrame(callback) {
  requestAnimationFrame(() => requestAnimationFrame(callback));
}
