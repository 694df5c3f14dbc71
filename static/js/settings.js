import { Outbox } from './composer.js';
import { save } from './saving.js';

const dialog = document.getElementById('settings');
const box = document.getElementById('system');
const [count, error] = ['count', 'error'].map((name) => dialog.querySelector(`[data-part=${name}]`));
const MOST = box.maxLength;
let page;
let stored = box.value;

dialog.addEventListener('click', clicked);
dialog.addEventListener('keydown', pressed);
dialog.addEventListener('cancel', restore);
box.addEventListener('input', tell);
document.getElementById('instruct').addEventListener('submit', submitted);

/** Opens the instructions of this conversation. Those of a new one go with its first question. */
export function instruct(itsPage) {
  page = itsPage;
  stored = box.value;
  error.textContent = '';
  tell();
  dialog.showModal();
  box.focus();
}

function tell() {
  count.textContent = page.say('characters', { n: page.number(box.value.length), most: page.number(MOST) });
}

function restore() {
  box.value = stored;
}

function clicked({ target }) {
  const { value } = target.closest('button') ?? {};
  if (value === 'cancel') restore();
  if (value === 'cancel') dialog.close();
  if (value === 'save' && target.closest('button').type === 'button') keep();
}

function pressed(event) {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  keep();
}

function submitted(event) {
  event.preventDefault();
  keep();
}

async function keep() {
  const system = box.value;
  if (page.conversation && system !== stored) {
    error.textContent = await save(page, page.url('settings', page.conversation), { system });
    if (error.textContent) return;
  }
  // Those of a new chat outlive a reload, like the question they wait for: composer.js.
  if (!page.conversation) Outbox.open(page.user).keep('system', system);
  document.getElementById('instructions').ariaDescription = system ? page.say('instructed') : null;
  stored = system;
  dialog.close();
}
