import { announce, complain, forget, giveBack, post } from './answers.js';
import { pageOf, regenerate, textOf } from './branches.js';
import { copyText } from './clipboard.js';

const SHOWN = 2_000; // milliseconds for which a button shows that it has done its work

/** The handler of each button in the thread, by its `data-action`. */
const DEEDS = {
  copy,
  select,
  start: async (chat, button) => chat.composer.start(button.dataset.start),
  regenerate,
  continue: goOn,
  afresh: (...what) => import('./outcome.js').then(({ afresh }) => afresh(...what)),
  edit: (...what) => import('./edit.js').then(({ open }) => open(...what)),
  save: (...what) => import('./edit.js').then(({ save }) => save(...what)),
  cancel: (...what) => import('./edit.js').then(({ cancel }) => cancel(...what)),
  feedback: (...what) => import('./feedback.js').then(({ rate }) => rate(...what)),
  reason: (...what) => import('./feedback.js').then(({ explain }) => explain(...what)),
  dismiss: (...what) => import('./feedback.js').then(({ dismiss }) => dismiss(...what)),
  wait: (...what) => import('./outcome.js').then(({ wait }) => wait(...what)),
  reword: (...what) => import('./outcome.js').then(({ reword }) => reword(...what)),
  request: (...what) => import('./outcome.js').then(({ copyRequest }) => copyRequest(...what)),
  models: (...what) => import('./others.js').then(({ offer }) => offer(...what)),
};

/**
 * Run the handler of a button or form in the thread.
 * @param {object} chat  chat.js's controller
 * @param {HTMLElement} element  the button that was pressed, or the form that was submitted
 */
export async function act(chat, element) {
  const article = element.closest('article');
  forget(article);
  const asks = 'turn' in element.dataset;
  if (asks && chat.busy) return complain(article, chat.page.say('wait'), 'busy');
  if (!asks && element.ariaDisabled === 'true') return;
  try {
    await DEEDS[element.dataset.action](chat, element);
  } catch (error) {
    console.warn(error);
    complain(article, chat.page.say('not-done'));
  }
}

/** Copy a message: the Markdown of a reply, which only the server has, or a question as it was typed. */
async function copy(chat, button) {
  const article = button.closest('article');
  const source = chat.page.url('source', article.dataset.message);
  if (!(await copyText(fetch(source).then(textOf)))) return complain(article, chat.page.say('not-copied'));
  announce(chat.page.say('copied'));
  button.dataset.done = '';
  setTimeout(() => delete button.dataset.done, SHOWN);
}

/** Show another version of a message. The focus stays on the side of the version buttons that was pressed. */
async function select(chat, button) {
  const { target, side } = button.dataset;
  const taken = await post(chat, button.closest('article'), chat.page.url('select', target));
  if (!taken) return;
  const article = await chat.swap(await pageOf(chat), target);
  const walker = article?.querySelector('.versions');
  walker?.querySelector(`[data-side=${side}]`).focus({ preventScroll: true });
  announce(walker?.ariaLabel ?? '');
}

/** Continue the same reply, with the model that began it. */
async function goOn(chat, button) {
  const reply = button.closest('article');
  const url = chat.page.url('continue', reply.dataset.message);
  const going = chat.begin({ url, body: { model: undefined }, reply });
  chat.composer.focus();
  if (!(await going)) giveBack(button);
}
