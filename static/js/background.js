import { isTouch } from './composer.js';
import { MessageQueue } from './message_queue.js';
import { cloneTemplate, page } from './page.js';
import { Sync } from './sync.js';

const PAGE_PART = 0.8; // of the window's height
const MIN_KEYBOARD_PX = 80; // a smaller covered area is no keyboard
const MAX_PASTED_CHARS = 4_000; // a longer text becomes a file
const MAX_FILES = 8; // of a message: attachment_tray.js
const MAX_SCALE = 1.05; // with a larger one the person has zoomed in, and a smaller viewport is no keyboard

/**
 * Start the parts that the page does not need for its first view.
 * @returns {Sync}
 */
export function startBackground(chat) {
  document.getElementById('forms').rel = 'stylesheet'; // in its place, before the sheets of single parts
  watchPageKeys(document.getElementById('content'), chat.follower);
  watchHelpKey(document.querySelector('[data-opens=shortcuts]'));
  watchPastedFiles(chat);
  watchDraggedFiles();
  watchModel();
  document.head.append(cloneTemplate('print-styles-template'));
  // Before the focus moves; only a Tab that is the first key may be too early.
  document.addEventListener('keydown', ({ key }) => key === 'Tab' && updateScrollableTabStops());
  if (isTouch() && visualViewport) liftAboveKeyboard(() => chat.followEnd());
  document.querySelector('.account-button').ariaHasPopup = 'menu'; // without scripts, and in the settings, it shows links
  // The page was reloaded with them over it.
  if (history.state?.settings) import('./settings_dialog.js').then(({ openSettings }) => openSettings()).catch(() => {});
  const sync = new Sync(chat);
  chat.queue = new MessageQueue(chat, sync);
  return sync;
}

function watchDraggedFiles() {
  const show = ({ target, dataTransfer }) => {
    if (!dataTransfer?.types.includes('Files')) return;
    import('./attachments.js').then((module) => module.showDropHint(target)).catch(() => {});
  };
  // A busy page can be so late with the events that the hint has ended: each of them shows it again.
  for (const type of ['dragenter', 'dragover']) document.addEventListener(type, show);
}

/** Mark another model on the page of a new chat, offer its thinking, and say what becomes of the pictures above. */
function watchModel() {
  const thinking = document.getElementById('thinking');
  document.getElementById('model')?.addEventListener('change', ({ target }) => {
    if (thinking) thinking.disabled = thinking.closest('label').hidden = !('thinks' in target.selectedOptions[0].dataset);
    if (!page.conversation) import('./model_picker.js').then((module) => module.showModel(target.value), () => {});
    if (!document.querySelector('#thread .pictures')) return;
    import('./tray_limits.js').then((module) => module.explain(target.value)).catch(() => {});
  });
}

/**
 * Add pasted files to the question: otherwise they would vanish. For dropped files, see chat.js. A long text becomes a
 * file too, which leaves the box readable, and stays in the draft until it is uploaded; offline it stays a text.
 */
function watchPastedFiles(chat) {
  document.addEventListener('paste', (event) => {
    const { types = [], files = [] } = event.clipboardData ?? {};
    // A copy from an office program holds its text and a picture of it.
    const isText = types.includes('text/plain') && Array.from(files).every(({ type }) => type.startsWith('image/'));
    if (types.length && !isText) return chat.onFiles(event, event.clipboardData);
    const text = isText ? event.clipboardData.getData('text/plain') : '';
    if (text.length <= MAX_PASTED_CHARS || !navigator.onLine || !hasRoom(chat, event.target)) return undefined;
    event.preventDefault();
    const file = Object.assign(fileOf(text), { forget: () => keep('delete') });
    const keep = (change) => {
      (event.target.form.pasted ??= new Set())[change](file);
      event.target.dispatchEvent(new Event('input', { bubbles: true })); // saves the draft
    };
    keep('add');
    return chat.addFiles({ files: [file] }, event.target);
  });
}

/** Return whether a box takes files, and one more. */
function hasRoom(chat, box) {
  if (!box.matches('#content, .edit textarea') || !document.getElementById('files')) return false;
  const tray = box.id === 'content' ? chat.composer.attachments : box.form.attachments;
  return (tray?.size ?? 0) < MAX_FILES;
}

function fileOf(text) {
  const lines = text.trimEnd().split('\n').length;
  const name = lines > 1 ? page.text('pasted-lines', { n: page.number(lines, 0, true) }) : page.text('pasted');
  return Object.assign(new File([text], `${name}.txt`, { type: 'text/plain' }), { pasted: text });
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

/**
 * Make Tab stop only at the code blocks and tables that actually scroll.
 *
 * The server makes all of them focusable, because it cannot know their width on the screen, and Safari cannot
 * reach a scrolling element without a tabindex. The overflow is measured when Tab is pressed, before the
 * focus moves, so that a page that is used without a keyboard pays nothing, however much streams into it.
 */
function updateScrollableTabStops() {
  const boxes = Array.from(document.querySelectorAll('.code pre, .prose .table'));
  const scrolling = boxes.map((box) => box.scrollWidth > box.clientWidth); // measure all before changing any
  boxes.forEach((box, at) => (box.tabIndex = scrolling[at] ? 0 : -1));
}

/**
 * Lift the foot of the page above an on-screen keyboard. Chromium and Firefox make the page smaller, as
 * base.html asks them to; Safari only shrinks and moves the visual viewport.
 * @param {() => void} follow  keeps the newest text in view for a reader who is at the end
 */
function liftAboveKeyboard(follow) {
  const viewport = visualViewport;
  const place = () => {
    document.documentElement.style.setProperty('--covered', `${coveredHeight(viewport, innerHeight)}px`);
    follow();
  };
  for (const type of ['resize', 'scroll']) viewport.addEventListener(type, place);
  place();
}

/** Return the pixels of the window's height that a keyboard covers. */
export function coveredHeight({ scale, offsetTop, height }, windowHeight) {
  const covered = windowHeight - offsetTop - height;
  return scale > MAX_SCALE || covered < MIN_KEYBOARD_PX ? 0 : Math.round(covered);
}
