import { fetchThread } from './api.js';
import { updateTimes } from './message_times.js';
import { addCodeActions } from './page.js';

const LOAD_MARGIN = '1200px 0px 0px'; // older messages are fetched at this distance above the view
const STORAGE_KEY = 'places';
const MAX_PLACES = 50; // conversations of one tab; beyond these the oldest is removed
const STILL_FRAMES = 3; // without a movement, after which the message is in its place
const MAX_FRAMES = 40;

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

/** Load pages of older messages, so many at most, until the element with this id is there; '': all of them. */
export async function loadUntil(chat, id, pages) {
  for (let page = 0; page < pages && !document.getElementById(id); page++) {
    const link = chat.thread.querySelector('.older');
    if (!link) return;
    link.dataset.watched = link.ariaBusy = 'true'; // keeps the observer from loading it as well
    const found = await fetchThread(link.href).catch(() => null);
    link.ariaBusy = 'false';
    if (!found || !link.isConnected) return;
    insert(chat, link, found);
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

/**
 * Store the reader's place in this conversation: the topmost message in view, its distance from the top, and how
 * many pages of older messages were loaded.
 */
export function savePosition(chat) {
  const articles = Array.from(chat.thread.querySelectorAll('.message[id]'));
  const article = chat.follower.following ? null : articles.find((each) => each.getBoundingClientRect().bottom > 0);
  const batches = chat.thread.querySelectorAll('.history-batch');
  const place = article && [article.id, article.getBoundingClientRect().top, batches.length];
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(updatePlaces(read(), location.pathname, place)));
  } catch (error) {
    console.warn('The place in the page is not kept:', error);
  }
}

/**
 * Return to the stored place after a reload, or on the way back or forward. The listener stores the place of a
 * page that is left before sync.js was loaded; otherwise the place of an earlier visit would be used for it.
 * @returns {Promise<boolean>} false if the reader was at the end, or the message is not in the conversation
 */
export async function restorePosition(chat) {
  addEventListener('pagehide', () => savePosition(chat));
  const [id, top, batches = 0] = read()[location.pathname] ?? [];
  if (batches) await loadUntil(chat, id, batches);
  const article = id && document.getElementById(id);
  if (!article) return false;
  chat.follower.release();
  holdAt(article, top);
  return true;
}

/**
 * Scroll until the article stays at this distance from the top. An element far from the view gets its size only
 * near it, some frames later, and not every browser keeps what is in view in its place then. A reader who scrolls
 * ends it.
 */
function holdAt(article, top) {
  const reader = new AbortController();
  const options = { passive: true, signal: reader.signal };
  const types = ['wheel', 'touchstart', 'pointerdown', 'keydown'];
  for (const type of types) addEventListener(type, () => reader.abort(), options);
  let still = 0;
  let frames = 0;
  const move = () => {
    if (reader.signal.aborted) return;
    const gap = article.getBoundingClientRect().top - top;
    scrollBy(0, gap);
    still = Math.abs(gap) < 1 ? still + 1 : 0;
    frames += 1;
    if (still < STILL_FRAMES && frames < MAX_FRAMES) requestAnimationFrame(move);
    else reader.abort();
  };
  move();
}

/**
 * Return the places with the one at this address last.
 * @param {Object<string, [string, number, number]>} places  by address
 * @param {[string, number, number]|null|undefined} place  none: the end
 */
export function updatePlaces(places, address, place) {
  const others = Object.entries(places).filter(([each]) => each !== address);
  return Object.fromEntries((place ? [...others, [address, place]] : others).slice(-MAX_PLACES));
}

/** @returns {Object<string, [string, number, number]>} the places by address */
function read() {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_KEY)) ?? {};
  } catch {
    return {};
  }
}
