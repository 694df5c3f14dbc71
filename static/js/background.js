import { MessageQueue } from './message_queue.js';
import { page } from './page.js';
import { Sync } from './sync.js';

const PAGE_PART = 0.8; // of the window's height

/**
 * Start the parts that the page does not need for its first view.
 * @returns {Sync}
 */
export function startBackground(chat) {
  watchPageKeys(document.getElementById('content'), chat.follower);
  watchHelpKey(document.querySelector('[data-opens=shortcuts]'));
  watchPastedFiles(chat);
  watchDraggedFiles();
  watchModel();
  document.querySelector('.account-button').ariaHasPopup = 'menu'; // without scripts, and in the settings, it shows links
  const sync = new Sync(chat);
  chat.queue = new MessageQueue(chat, sync);
  return sync;
}

function watchDraggedFiles() {
  const show = ({ target, dataTransfer }) => {
    if (!dataTransfer?.types.includes('Files')) return;
    import('./drop_hint.js').then((module) => module.showDropHint(target)).catch(() => {});
  };
  // A busy page can be so late with the events that the hint has ended: each of them shows it again.
  for (const type of ['dragenter', 'dragover']) document.addEventListener(type, show);
}

/** Mark another model on the page of a new chat, and say what becomes of the pictures above. */
function watchModel() {
  document.getElementById('model')?.addEventListener('change', ({ target }) => {
    if (!page.conversation) import('./model_picker.js').then((module) => module.showModel(target.value), () => {});
    if (!document.querySelector('#thread .pictures')) return;
    import('./tray_limits.js').then((module) => module.explain(target.value)).catch(() => {});
  });
}

/** Add pasted files to the question: otherwise they would vanish. For dropped files, see chat.js. */
function watchPastedFiles(chat) {
  document.addEventListener('paste', (event) => {
    const { types = [], files = [] } = event.clipboardData ?? {};
    // A copy from an office program holds its text and a picture of it.
    const isText = types.includes('text/plain') && Array.from(files).every(({ type }) => type.startsWith('image/'));
    if (types.length && !isText) chat.onFiles(event, event.clipboardData);
  });
}

/**
 * Let the keys that move by pages scroll the conversation while the message box has the focus and no use for
 * them: PageUp and PageDown if its text does not scroll, Home and End if it is empty.
 * @param {import('./page.js').ScrollFollower} follower
 */
function watchPageKeys(box, follower) {
  const scrolls = {
    PageUp: () => scrollUp(follower, scrollY - innerHeight * PAGE_PART),
    PageDown: () => scrollBy(0, innerHeight * PAGE_PART),
    Home: () => scrollUp(follower, 0),
    End: () => follower.jump(),
  };
  box.addEventListener('keydown', (event) => {
    if (!scrollsPage(event, { isEmpty: box.value === '', isScrollable: box.scrollHeight > box.clientHeight })) return;
    event.preventDefault();
    scrolls[event.key]();
  });
}

/**
 * Return whether a key in the message box scrolls the page.
 * @param {KeyboardEvent} event
 * @param {{isEmpty: boolean, isScrollable: boolean}} box
 */
export function scrollsPage({ key, shiftKey, altKey, metaKey, ctrlKey, isComposing }, { isEmpty, isScrollable }) {
  if (shiftKey || altKey || metaKey || isComposing) return false;
  if (key === 'PageUp' || key === 'PageDown') return !ctrlKey && !isScrollable;
  return (key === 'Home' || key === 'End') && isEmpty;
}

/** Stop following first: the next piece of a reply would undo the movement. */
function scrollUp(follower, top) {
  follower.release();
  scrollTo(0, top);
}

/** Open the table of shortcuts with a question mark outside of fields. */
function watchHelpKey(link) {
  document.addEventListener('keydown', (event) => {
    if (!isHelpKey(event, event.target.matches('input, textarea, select'))) return;
    event.preventDefault();
    link.click();
  });
}

export function isHelpKey({ key, ctrlKey, metaKey, isComposing }, isInField) {
  return key === '?' && !isInField && !isComposing && !ctrlKey && !metaKey;
}
