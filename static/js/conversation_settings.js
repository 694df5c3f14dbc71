import { fetchJson, fetchPart, saveChange } from './api.js';
import { drafts } from './drafts.js';
import { showThinking } from './outcome.js';
import { page } from './page.js';
import { addControls, controlsOf, showNumber, showValues, valueOf } from './parameter_controls.js';

const dialog = document.getElementById('settings');
const box = document.getElementById('system');
const composer = document.getElementById('composer');
const form = document.getElementById('instruct');
const [count, error] = ['count', 'error'].map((name) => dialog.querySelector(`[data-part=${name}]`));
const MAX_LENGTH = box.maxLength;
let stored = box.value;
let resetsAll = false; // also reset the parameters that only other models know

dialog.addEventListener('click', onClick);
dialog.addEventListener('keydown', onKeydown);
dialog.addEventListener('cancel', restore);
box.addEventListener('input', showCount);
form.addEventListener('submit', onSubmit);
form.noValidate = true; // a browser cannot focus an invalid field in a closed <details>

/** Open the settings of this conversation. A new one sends them with its first question. */
export async function openSettings() {
  document.getElementById('menu').hidePopover(); // first, so that the dialog returns the focus to its button
  stored = box.value;
  error.textContent = '';
  showCount();
  dialog.showModal();
  box.focus();
  resetsAll = false;
  showContext();
  await showParameters();
}

function showCount() {
  count.textContent = page.text('characters', { n: page.number(box.value.length, 0, true), most: page.number(MAX_LENGTH, 0, true) });
}

function restore() {
  box.value = stored;
}

/** Show how much of the model's context window the conversation fills. If the request fails, show nothing. */
async function showContext() {
  const gauge = document.getElementById('context');
  gauge.hidden = true;
  if (!page.conversation) return;
  const model = document.getElementById('model')?.value;
  const query = model ? `?${new URLSearchParams({ model })}` : '';
  const context = await fetchJson(page.url('context', page.conversation) + query).catch(() => null);
  if (!context) return;
  const { tokens, window: size, text } = context;
  const meter = gauge.querySelector('meter');
  meter.max = size;
  meter.high = size * meter.dataset.high;
  meter.value = tokens;
  gauge.querySelector('[data-part=context-text]').textContent = text;
  gauge.hidden = false;
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
  return controlsOf(group());
}

/** Show the parameters that the current model knows, with the chosen values. */
async function showParameters() {
  const model = document.getElementById('model')?.value;
  if (model && model !== group().dataset.model) {
    const query = new URLSearchParams({ model, ...(!page.conversation && { new: '' }) });
    const part = await fetchPart(`${page.url('parameters')}?${query}`).catch(() => null);
    if (!part) return (error.textContent = page.text('not-loaded'));
    group().replaceWith(part);
  }
  addControls(group());
  showValues(group(), chosen(), showNumber);
}

/**
 * Return the changes of this form: null removes a choice. Parameters that only other
 * models know are removed by a reset alone.
 */
function changes() {
  const wanted = resetsAll ? Object.fromEntries(Object.keys(chosen()).map((name) => [name, null])) : {};
  for (const control of controls()) {
    const radio = control.type === 'radio';
    if (radio && !control.checked) continue;
    const touched = radio ? !control.defaultChecked : control.value !== control.defaultValue;
    if (touched || (resetsAll && control.value)) wanted[control.name] = valueOf(control);
  }
  return wanted;
}

function reset() {
  for (const control of controls()) {
    if (control.type === 'radio') control.checked = control.value === '';
    else showNumber(control, '');
  }
  resetsAll = true;
}

/** Report a number outside its range at its field, which may be inside a closed <details>. */
function reportInvalid() {
  const invalid = controls().find((control) => !control.validity.valid);
  if (!invalid) return true;
  const details = invalid.closest('details');
  if (details) details.open = true;
  return invalid.reportValidity();
}

// Actions

function onClick(event) {
  const { value, type } = event.target.closest('button') ?? {};
  if (value === 'cancel') restore();
  if (value === 'cancel') dialog.close();
  if (value === 'reset') event.preventDefault();
  if (value === 'reset') reset();
  if (value === 'save' && type === 'button') {
    event.preventDefault(); // it would close the dialog even if a value is invalid
    save();
  }
}

function onKeydown(event) {
  if (event.key !== 'Enter') return;
  // The fields of a new chat belong to the form of its first question, which Enter must not send from here.
  const sendsForm = event.target.matches('input') && !page.conversation;
  if (!event.ctrlKey && !event.metaKey && !sendsForm) return;
  event.preventDefault();
  save();
}

function onSubmit(event) {
  event.preventDefault();
  save();
}

async function save() {
  if (!reportInvalid()) return;
  const system = box.value;
  const parameters = changes();
  const merged = Object.entries({ ...chosen(), ...parameters });
  const remaining = Object.fromEntries(merged.filter(([, value]) => value !== null));
  if (page.conversation) {
    const wanted = { ...(system !== stored && { system }), ...(Object.keys(parameters).length && { parameters }) };
    if (Object.keys(wanted).length) {
      error.textContent = await saveChange(page.url('settings', page.conversation), wanted);
      if (error.textContent) return;
    }
  } else storeForNewChat(system, remaining);
  const isSet = system || Object.keys(remaining).length;
  document.getElementById('instructions').ariaDescription = isSet ? page.text('instructed') : null;
  stored = system;
  composer.dataset.parameters = JSON.stringify(remaining);
  if (resetsAll) showThinking(true); // as every model does by itself
  dialog.close();
}

/** Keep the settings of a new chat over a reload, like the question they wait for: see composer.js. */
function storeForNewChat(system, parameters) {
  drafts.save('system', system);
  // The parameters of an assistant are not the draft's of every new chat.
  if (!composer.elements.assistant) drafts.save('parameters', Object.keys(parameters).length ? JSON.stringify(parameters) : '');
}
