import { furnish, nodesOf } from './transcript.js';

const AHEAD = '1200px 0px 0px'; // older messages are fetched at this distance above the view

/** Load older messages when the reader comes near the link to them. The link also works without scripts. */
export function watch(chat) {
  const link = chat.thread.querySelector('.older');
  if (!link || link.dataset.watched) return;
  link.dataset.watched = 'true';
  const observer = new IntersectionObserver(
    (entries) => entries.some((entry) => entry.isIntersecting) && load(chat, link, observer),
    { rootMargin: AHEAD },
  );
  observer.observe(link);
  link.addEventListener('click', (event) => {
    event.preventDefault();
    load(chat, link, observer);
  });
}

/** Load older messages. After a failure only a click tries again, to spare a server in trouble. */
async function load(chat, link, observer) {
  if (link.ariaBusy === 'true') return;
  link.ariaBusy = 'true';
  observer.disconnect();
  const found = await fetched(link.href);
  link.ariaBusy = 'false';
  if (found && link.isConnected) insert(chat, link, found);
  else link.dataset.failed = 'true';
}

/** @returns {Promise<Element|null>} the thread of another page of this conversation */
async function fetched(url) {
  try {
    const response = await fetch(url, { credentials: 'same-origin', headers: { 'X-Requested-With': 'fetch' } });
    return response.ok ? nodesOf(await response.text()).querySelector('#thread') : null;
  } catch {
    return null;
  }
}

/**
 * Insert a page of older messages as one element: far from the view it costs nothing, however many there are.
 */
function insert(chat, link, found) {
  const focused = link === document.activeElement;
  const older = found.querySelector('.older');
  const batch = document.createElement('div');
  batch.className = 'batch';
  batch.append(...found.querySelectorAll('article, .context-start'));
  furnish(batch);
  chat.enable(batch);
  for (const article of batch.children) article.classList.remove('far');
  hold(link.nextElementSibling, () => link.replaceWith(...(older ? [older] : []), batch));
  if (focused) focusOn(older ?? batch.firstElementChild);
  chat.reopen();
  watch(chat);
  // After it was laid out once, an element keeps its size while it is skipped.
  afterNextFrame(() => [batch, ...batch.querySelectorAll('article')].forEach((element) => element.classList.add('far')));
}

/** @see Chat.swap */
export function swap(chat, html, message) {
  const found = nodesOf(html).querySelector('#thread');
  if (!found || chat.busy) return null;
  const place = placeOf(chat.thread, found, message);
  keepOlder(chat.thread, found);
  chat.thread.replaceChildren(...found.childNodes);
  const article = place();
  chat.arrived();
  return article;
}

/**
 * Remember the thread's position on the screen; to be called before it changes. The bottom edge of a chosen
 * message stays under the pointer; otherwise the topmost message in view keeps its top edge.
 * @returns {() => HTMLElement|null} restores the position
 */
function placeOf(thread, found, message) {
  const articles = Array.from(thread.querySelectorAll('article'));
  const edge = message ? 'bottom' : 'top';
  const common = articles.filter(({ id }) => id && found.querySelector(`#${id}`));
  const inView = common.find((article) => article.getBoundingClientRect().bottom > 0) ?? common.at(-1);
  const before = message ? counterpart(articles, common.at(-1), found, `m-${message}`) : inView;
  const at = before?.getBoundingClientRect()[edge];
  const id = message ? `m-${message}` : before?.id;
  const fresh = thread.querySelector('.fresh')?.id;
  return () => {
    document.getElementById(fresh)?.classList.add('fresh');
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
function keepOlder(thread, found) {
  const first = document.getElementById(found.querySelector('article')?.id);
  if (first?.parentElement !== thread) return;
  found.querySelector('.older')?.remove();
  while (thread.firstElementChild !== first) found.insertBefore(thread.firstElementChild, found.querySelector(`#${first.id}`));
}

/**
 * Change the page above an element without moving the element on the screen. Safari lacks scroll anchoring.
 */
function hold(element, change) {
  const root = document.documentElement;
  const before = element?.getBoundingClientRect().top;
  root.style.overflowAnchor = 'none';
  change();
  if (element) scrollBy(0, element.getBoundingClientRect().top - before);
  afterNextFrame(() => (root.style.overflowAnchor = ''));
}

function focusOn(element) {
  if (!element.matches('a')) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

function afterNextFrame(act) {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
