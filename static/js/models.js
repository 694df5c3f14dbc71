import { part, save } from './saving.js';
import { nodesOf } from './transcript.js';

const dialog = document.getElementById('models');
const select = document.getElementById('model');
let page;
let loaded = null;

/** Open the choice of models: radio buttons with each model's abilities and price. */
export async function choose(itsPage) {
  page = itsPage;
  loaded ??= load();
  dialog.showModal();
  if (await loaded) start();
}

async function load() {
  dialog.ariaBusy = 'true';
  wire();
  const { was } = dialog.dataset; // the conversation's model, if that was retired
  const query = was ? `?was=${encodeURIComponent(was)}` : '';
  const html = await part(page.url('models') + query).catch(() => '');
  dialog.ariaBusy = null;
  if (!html) loaded = null; // the next opening tries again
  dialog.replaceChildren(html ? nodesOf(html) : page.say('not-loaded'));
  return html !== '';
}

function wire() {
  dialog.addEventListener('click', (event) => clicked(event));
  dialog.addEventListener('keydown', (event) => pressed(event));
  dialog.addEventListener('input', (event) => event.target.type === 'search' && find(event.target.value));
}

/** Reset the dialog to its first state: all models shown, the current one marked. */
function start() {
  const search = dialog.querySelector('[type=search]');
  if (search) search.value = '';
  find('');
  const now = radios().find(({ value }) => value === select.value);
  for (const radio of radios()) radio.closest('label').ariaCurrent = radio === now ? 'true' : null;
  if (now) now.checked = true;
  now?.closest('label').scrollIntoView({ block: 'center' });
  if (search && !matchMedia('(pointer: coarse)').matches) search.focus();
  else now?.focus();
}

function radios() {
  return Array.from(dialog.querySelectorAll('[type=radio]'));
}

function shown() {
  return radios().filter((radio) => !radio.closest('label').hidden);
}

function find(words) {
  const wanted = words.toLowerCase().split(/\s+/);
  for (const radio of radios()) {
    const row = radio.closest('label');
    const said = `${row.textContent} ${radio.value}`.toLowerCase();
    row.hidden = !wanted.every((word) => said.includes(word));
  }
  dialog.querySelector('.none').hidden = shown().length > 0;
}

/**
 * Choose a model by a real click. Arrow keys only move between the radio buttons, which a browser reports as
 * clicks without a mouse button (`detail` is 0).
 */
function clicked(event) {
  if (event.target === dialog) dialog.close(); // a click beside the dialog
  else if (event.target.type === 'radio' && event.detail > 0) take(event.target);
  else if (event.target.closest('label') && event.detail === 0 && event.target.type !== 'radio') event.preventDefault();
}

function pressed(event) {
  const { key, target } = event;
  const searching = target.type === 'search';
  const walks = searching && (key === 'ArrowDown' || key === 'ArrowUp');
  if (key !== 'Enter' && !walks && !(key === ' ' && !searching)) return;
  event.preventDefault();
  const found = shown();
  const one = found.find(({ checked }) => checked) ?? found[0];
  if (!one) return;
  if (!walks) return take(searching ? one : target);
  one.checked = true;
  one.focus();
}

/**
 * Use the chosen model from the next question on. The question names its model
 * itself, so a failure to save does no harm.
 */
function take({ value }) {
  dialog.close();
  if (value === select.value) return;
  select.value = value;
  select.dispatchEvent(new Event('change', { bubbles: true }));
  document.querySelector('#pick .label').textContent = page.modelName(value);
  if (page.conversation) save(page, page.url('settings', page.conversation), { model: value });
}
