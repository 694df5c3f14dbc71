import { loadUntil } from './older_messages.js';

const STORAGE_KEY = 'places';
const MAX_PLACES = 50; // conversations of one tab; beyond these the oldest is removed
const STILL_FRAMES = 3; // without a movement, after which the message is in its place
const MAX_FRAMES = 40;

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
