import { clearError, fetchText, postAction, showError } from './api.js';
import { copy, copyText, showCopied } from './clipboard.js';
import { returnFocus } from './focus.js';
import { announce, page } from './page.js';
import { regenerate, showVersion } from './thread.js';

/** The handler of each button in the thread, by its `data-action`. */
const ACTIONS = {
  copy: copyMessage,
  'copy-markdown': copyMarkdown,
  'copy-table': (chat, button) => copyPart(button, button.parentNode),
  print: (...args) => import('./print.js').then(({ printMessage }) => printMessage(...args)),
  select,
  suggest: async (chat, button) => chat.composer.suggest(button.dataset.text),
  ask,
  regenerate,
  continue: continueReply,
  answer,
  'retry-with': (...args) => import('./outcome.js').then(({ retryWith }) => retryWith(...args)),
  edit: (...args) => import('./edit.js').then(({ openEdit }) => openEdit(...args)),
  save: (...args) => import('./edit.js').then(({ submitEdit }) => submitEdit(...args)),
  cancel: (...args) => import('./edit.js').then(({ cancelEdit }) => cancelEdit(...args)),
  feedback: (...args) => import('./feedback.js').then(({ rate }) => rate(...args)),
  reason: (...args) => import('./feedback.js').then(({ sendReason }) => sendReason(...args)),
  dismiss: (...args) => import('./feedback.js').then(({ dismiss }) => dismiss(...args)),
  wait: (...args) => import('./outcome.js').then(({ toggleRetry }) => toggleRetry(...args)),
  'edit-question': (...args) => import('./outcome.js').then(({ editQuestion }) => editQuestion(...args)),
  'copy-code': (...args) => import('./code_actions.js').then(({ copyCode }) => copyCode(...args)),
  'download-code': (...args) => import('./code_actions.js').then(({ downloadCode }) => downloadCode(...args)),
  'open-text': (...args) => import('./text_beside.js').then(({ openBlock }) => openBlock(...args)),
  'open-reply': (...args) => import('./text_beside.js').then(({ openReply }) => openReply(...args)),
  changes: (...args) => import('./text_beside.js').then(({ openChanges }) => openChanges(...args)),
  'wrap-code': (...args) => import('./code_actions.js').then(({ toggleWrap }) => toggleWrap(...args)),
  more: (...args) => import('./popup_menu.js').then(({ openMessageMenu }) => openMessageMenu(...args, dispatch)),
  picture: (...args) => import('./attachment_parts.js').then(({ openPicture }) => openPicture(...args)),
  models: (...args) => import('./model_picker.js').then(({ openRegeneratePicker }) => openRegeneratePicker(...args)),
};

/**
 * Run the handler of a button or form in the thread.
 * @param {HTMLElement} element  the button that was pressed, or the form that was submitted
 * @param {string} [name]  of what an entry of its menu does
 */
export async function dispatch(chat, element, name = element.dataset.action) {
  const article = element.closest('article');
  clearError(article);
  const requestsReply = 'turn' in element.dataset;
  if (requestsReply && chat.busy) return showError(article, page.text('wait'), 'busy');
  if (!requestsReply && element.ariaDisabled === 'true') return;
  try {
    await ACTIONS[name](chat, element);
  } catch (error) {
    console.warn(error);
    showError(article, page.text('not-done'));
  }
}

/** Ask an opening question. Its button goes with the empty page, so the message box gets the focus. */
async function ask(chat, form) {
  const content = form.elements.content.value;
  const asked = chat.requestReply({ body: { content }, question: content });
  chat.composer.focus();
  return asked;
}

/** Copy a message for people: a reply as it looks, a question as it was typed. */
async function copyMessage(chat, button) {
  const text = button.closest('.reply')?.querySelector('[data-part=text]');
  return text ? copyPart(button, text) : copyMarkdown(chat, button);
}

function copyPart(button, part) {
  const rich = import('./rich_text.js').then(({ richText }) => richText([part]));
  return sayCopied(button, copy({ 'text/html': rich.then(({ html }) => html), 'text/plain': rich.then(({ text }) => text) }));
}

/** Copy what the model or the person wrote, which only the server has. */
function copyMarkdown(chat, button) {
  return sayCopied(button, copyText(fetchText(page.url('source', button.closest('article').dataset.message))));
}

async function sayCopied(button, copying) {
  if (!(await copying)) return showError(button.closest('article'), page.text('not-copied'));
  announce(page.text('copied'));
  return button.firstElementChild ? showCopied(button) : (button.textContent = page.text('copied'));
}

/** Allow or decline a call of a tool. The stream of the reply shows what follows. */
async function answer(chat, button) {
  const url = button.getAttribute('formaction') ?? button.form.action;
  const accepted = await postAction(button.closest('article'), url, button.value ? { for: button.value } : {});
  if (!accepted || !button.isConnected) return;
  announce(button.dataset.done);
  button.closest('details').querySelector('summary').focus({ preventScroll: true });
  button.form.replaceWith(button.dataset.done);
}

/** Show another version of a message. The focus stays on the side of the version buttons that was pressed. */
async function select(chat, button) {
  const { target, side } = button.dataset;
  const article = button.closest('article');
  const accepted = await postAction(article, page.url('select', target));
  if (!accepted) return;
  const chosen = await showVersion(chat, article, target);
  const versions = chosen?.querySelector('.versions');
  versions?.querySelector(`[data-side=${side}]`).focus({ preventScroll: true });
  announce(versions?.ariaLabel ?? '');
}

/** Continue the same reply, with the model that began it. */
async function continueReply(chat, button) {
  const reply = button.closest('article');
  const url = page.url('continue', reply.dataset.message);
  const request = chat.requestReply({ url, body: { model: undefined }, reply });
  chat.composer.focus();
  if (!(await request)) returnFocus(button);
}
