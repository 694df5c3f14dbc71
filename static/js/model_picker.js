import { fetchPart, saveChange } from './api.js';
import { ModelList } from './model_list.js';
import { page } from './page.js';
import { regenerate } from './thread.js';

const dialog = document.getElementById('models');
const select = document.getElementById('model');
const TITLE = dialog.ariaLabel;
let list = null;
let loading = null;
let choose; // the callback of the current opening, called with the chosen model

/** Open the picker of the model that answers from the next question on. */
export function openModelPicker() {
  return open({ title: TITLE, current: select.value, sees: document.querySelector('#composer .tray .picture') !== null }, (model) => useModel(model));
}

/**
 * Open the picker for another version of a reply, with only the models in the button's `data-only` if there are
 * any. The chosen model also answers the questions that follow, as it does on the server.
 */
export function openRegeneratePicker(chat, button) {
  const name = button.closest('article').querySelector('[data-part=model]').textContent;
  const current = Array.from(select.options).find(({ text }) => text === name)?.value;
  const shown = { title: dialog.dataset.regenerate, current, only: button.dataset.only?.split(' ') };
  return open(shown, (model) => {
    showChoice(model);
    regenerate(chat, button);
  });
}

async function open({ title, ...shown }, onChoice) {
  choose = onChoice;
  dialog.ariaLabel = title;
  loading ??= load();
  dialog.showModal();
  if (!(await loading) || !dialog.open) return;
  dialog.querySelector('.picker-title').textContent = title;
  list.show(shown);
}

async function load() {
  dialog.ariaBusy = 'true';
  const { was } = dialog.dataset; // the conversation's model, if that was retired
  const query = was ? `?was=${encodeURIComponent(was)}` : '';
  const part = await fetchPart(page.url('models') + query).catch(() => null);
  dialog.ariaBusy = null;
  dialog.replaceChildren(part ?? page.text('not-loaded'));
  if (part) list = new ModelList(dialog);
  else loading = null; // the next opening tries again
  return part !== null;
}

dialog.addEventListener('click', onClick);
dialog.addEventListener('keydown', onKeydown);
dialog.addEventListener('input', ({ target }) => target.type === 'search' && list.filter(target.value));

/**
 * Choose a model by a real click. Arrow keys only move between the radio buttons, which a browser reports as
 * clicks without a mouse button (`detail` is 0).
 */
function onClick(event) {
  const { target, detail } = event;
  const star = target.closest('.star');
  if (star) list.toggleFavourite(star);
  else if (target === dialog || target.closest('[data-part=close]')) dialog.close(); // a click beside the dialog
  else if (target.type === 'radio' && detail > 0) close(target.value);
  else if (target.closest('label') && detail === 0 && target.type !== 'radio') event.preventDefault();
}

function onKeydown(event) {
  const { key, target } = event;
  const searching = target.type === 'search';
  if (!searching && target.type !== 'radio') return;
  if (searching && key === 'Escape' && !event.isComposing) return leaveSearch(event);
  if (key === 'Enter' || (key === ' ' && !searching)) {
    event.preventDefault();
    const chosen = searching ? list.first : target;
    if (chosen) close(chosen.value);
  } else if (!searching) list.move(event);
  else if (key === 'ArrowDown' || key === 'ArrowUp') {
    event.preventDefault();
    list.enter();
  }
}

/**
 * Clear the search box; close the dialog if it is empty. Safari would keep the key to itself: its search boxes take
 * every Escape, and report no input when that clears them.
 */
function leaveSearch(event) {
  const { target } = event;
  event.preventDefault();
  if (!target.value) return dialog.close();
  target.value = '';
  list.filter('');
}

function close(model) {
  dialog.close();
  choose(model);
}

/** Show the warning about the small model on the page of a new chat. */
export function showModel(model) {
  for (const warning of document.querySelectorAll('.small-model')) warning.hidden = warning.dataset.model !== model;
}

/** The next question names its model itself, so a failure to save does no harm. */
function useModel(model) {
  if (model === select.value) return;
  showChoice(model);
  if (page.conversation) saveChange(page.url('settings', page.conversation), { model });
}

function showChoice(model) {
  select.value = model;
  select.dispatchEvent(new Event('change', { bubbles: true }));
  document.querySelector('#pick .label').textContent = page.modelName(model);
}
