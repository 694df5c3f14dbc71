import { furnish, nodesOf } from './transcript.js';

const AHEAD = '1200px 0px 0px'; // so far above the view older messages are fetched

/** Older messages come by themselves when the reader comes near the link to them, which works without, too. */
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

/** Once it has failed it waits for a click: no hammering of a server in trouble. */
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

/** One element for each page of messages: what is far from the view then costs nothing, however many there are. */
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
  // Laid out once, everything keeps the size that it has when it is skipped later.
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
 * Remembers where on the screen the thread stands; to be called before it changes.
 * The foot of a message that was chosen stays under the pointer, else the topmost message in view its top.
 * @returns {() => HTMLElement|null} puts it back there
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

/** The article that gives way to `id`: the first one that both threads do not share, where it is not shared itself. */
function counterpart(articles, lastCommon, found, id) {
  return articles.find((article) => article.id === id) ?? articles[articles.indexOf(lastCommon) + 1];
}

/** Pages of older messages that were fetched stay, where the new thread goes on with them. */
function keepOlder(thread, found) {
  const first = document.getElementById(found.querySelector('article')?.id);
  if (first?.parentElement !== thread) return;
  found.querySelector('.older')?.remove();
  while (thread.firstElementChild !== first) found.insertBefore(thread.firstElementChild, found.querySelector(`#${first.id}`));
}

/** Changes the page above an element without moving it on the screen; the browser's own way is not in Safari. */
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
