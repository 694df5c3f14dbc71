import { MessageQueue } from './message_queue.js';
import { watchHelpKey, watchPageKeys } from './page_keys.js';
import { watchPastedFiles } from './paste_files.js';
import { Sync } from './sync.js';

/**
 * Start the parts that the page does not need for its first view.
 * @param {object} chat  chat.js's controller
 * @param {import('./composer.js').DraftStore} drafts
 * @returns {{sync: Sync, queue: MessageQueue}}
 */
export function startBackground(chat, drafts) {
  watchPageKeys(document.getElementById('content'), chat.follower);
  watchHelpKey(document.querySelector('[data-opens=shortcuts]'));
  watchPastedFiles(chat);
  watchDraggedFiles(chat.page);
  watchModel(chat.page);
  document.querySelector('.account-button').ariaHasPopup = 'menu'; // without scripts, and in the settings, it shows links
  const sync = new Sync(chat);
  return { sync, queue: new MessageQueue(chat, sync, drafts) };
}

function watchDraggedFiles(page) {
  const show = ({ target, dataTransfer }) => {
    if (!dataTransfer?.types.includes('Files')) return;
    import('./drop_hint.js').then((module) => module.showDropHint(page, target)).catch(() => {});
  };
  // A busy page can be so late with the events that the hint has ended: each of them shows it again.
  for (const type of ['dragenter', 'dragover']) document.addEventListener(type, show);
}

/** Mark another model on the page of a new chat, and say what becomes of the pictures above. */
function watchModel(page) {
  document.getElementById('model')?.addEventListener('change', ({ target }) => {
    if (!page.conversation) import('./start_page.js').then((module) => module.showModel(target.value), () => {});
    if (!document.querySelector('#thread .pictures')) return;
    import('./earlier_pictures.js').then((module) => module.explain(page, target.value)).catch(() => {});
  });
}
