import { Outbox } from './composer.js';
import { part, save } from './saving.js';
import { nodesOf } from './transcript.js';

const SWITCHED = { on: true, off: false };
const dialog = document.getElementById('settings');
const box = document.getElementById('system');
const composer = document.getElementById('composer');
const form = document.getElementById('instruct');
const [count, error] = ['count', 'error'].map((name) => dialog.querySelector(`[data-part=${name}]`));
const MOST = box.maxLength;
const LEVELS = ['low', 'medium', 'high', 'xhigh', 'max'];
let page;
let stored = box.value;
let forget = false; // also reset the parameters that only other models know

dialog.addEventListener('click', clicked);
dialog.addEventListener('keydown', pressed);
dialog.addEventListener('cancel', restore);
box.addEventListener('input', tell);
form.addEventListener('submit', submitted);
form.noValidate = true; // a browser cannot focus an invalid field in a closed <details>

/** Open the settings of this conversation. Those of a new one are sent with its first question. */
export async function instruct(itsPage) {
  page = itsPage;
  stored = box.value;
  error.textContent = '';
  tell();
  dialog.showModal();
  box.focus();
  forget = false;
  await show();
}

function tell() {
  count.textContent = page.say('characters', { n: page.number(box.value.length, 0, true), most: page.number(MOST, 0, true) });
}

function restore() {
  box.value = stored;
}

// The parameters

/**
 * Return the chosen parameters of all models. For a new chat they are
 * kept in the form until the first question.
 */
function chosen() {
  return JSON.parse(composer.dataset.parameters);
}

function group() {
  return document.getElementById('parameters');
}

function controls() {
  return Array.from(group().querySelectorAll('input'));
}

/** Show the parameters that the current model knows, with the chosen values. */
async function show() {
  const model = document.getElementById('model')?.value;
  if (model && model !== group().dataset.model) {
    const query = new URLSearchParams({ model, ...(!page.conversation && { new: '' }) });
    const html = await part(`${page.url('parameters')}?${query}`).catch(() => '');
    if (!html) return (error.textContent = page.say('not-loaded'));
    group().replaceWith(nodesOf(html));
  }
  const values = chosen();
  for (const control of controls()) {
    const value = fitted(control, values[control.name]);
    if (control.type === 'radio') control.checked = control.defaultChecked = control.value === value;
    else control.value = control.defaultValue = value;
  }
  const details = group().querySelector('details');
  details.open ||= controls().some(({ type, value }) => type === 'number' && value);
}

/**
 * Return a value as the current model gets it: clamped to its range, or the nearest
 * of its levels; '' is the model's default.
 */
function fitted({ name, min, max }, value) {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return String(Math.min(Math.max(value, min), max));
  const away = (level) => Math.abs(LEVELS.indexOf(level) - LEVELS.indexOf(value));
  const levels = controls().filter((control) => control.name === name && control.value);
  return levels.map((control) => control.value).sort((one, other) => away(one) - away(other))[0];
}

function valueOf({ type, value }) {
  if (value === '') return null;
  return type === 'number' ? Number(value) : (SWITCHED[value] ?? value);
}

/**
 * Return the changes of this form: null removes a choice. Parameters that only other
 * models know are removed by a reset alone.
 */
function changes() {
  const wanted = forget ? Object.fromEntries(Object.keys(chosen()).map((name) => [name, null])) : {};
  for (const control of controls()) {
    const radio = control.type === 'radio';
    if (radio && !control.checked) continue;
    const touched = radio ? !control.defaultChecked : control.value !== control.defaultValue;
    if (touched || (forget && control.value)) wanted[control.name] = valueOf(control);
  }
  return wanted;
}

function reset() {
  for (const control of controls()) {
    if (control.type === 'radio') control.checked = control.value === '';
    else control.value = '';
  }
  forget = true;
}

/** Report a number outside its range at its field, which may be inside a closed <details>. */
function fit() {
  const wrong = controls().find((control) => !control.validity.valid);
  if (!wrong) return true;
  wrong.closest('details').open = true;
  return wrong.reportValidity();
}

// Actions

function clicked(event) {
  const { value, type } = event.target.closest('button') ?? {};
  if (value === 'cancel') restore();
  if (value === 'cancel') dialog.close();
  if (value === 'reset') event.preventDefault();
  if (value === 'reset') reset();
  if (value === 'save' && type === 'button') {
    event.preventDefault(); // it would close the dialog even if a value is invalid
    keep();
  }
}

function pressed(event) {
  if (event.key !== 'Enter') return;
  // The fields of a new chat belong to the form of its first question, which Enter must not send from here.
  const sends = event.target.matches('input') && !page.conversation;
  if (!event.ctrlKey && !event.metaKey && !sends) return;
  event.preventDefault();
  keep();
}

function submitted(event) {
  event.preventDefault();
  keep();
}

async function keep() {
  if (!fit()) return;
  const system = box.value;
  const parameters = changes();
  const both = Object.entries({ ...chosen(), ...parameters });
  const left = Object.fromEntries(both.filter(([, value]) => value !== null));
  if (page.conversation) {
    const wanted = { ...(system !== stored && { system }), ...(Object.keys(parameters).length && { parameters }) };
    if (Object.keys(wanted).length) {
      error.textContent = await save(page, page.url('settings', page.conversation), wanted);
      if (error.textContent) return;
    }
  } else hold(system, left);
  const set = system || Object.keys(left).length;
  document.getElementById('instructions').ariaDescription = set ? page.say('instructed') : null;
  stored = system;
  composer.dataset.parameters = JSON.stringify(left);
  dialog.close();
}

/** Keep the settings of a new chat over a reload, like the question they wait for: see composer.js. */
function hold(system, parameters) {
  const outbox = Outbox.open(page.user);
  outbox.keep('system', system);
  outbox.keep('parameters', Object.keys(parameters).length ? JSON.stringify(parameters) : '');
}
