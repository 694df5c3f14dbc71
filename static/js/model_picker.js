import { fetchHtml, saveChange } from './api.js';
import { ModelList } from './model_list.js';
import { parseTrustedHtml } from './page.js';
import { loadStyles } from './styles.js';
import { regenerate } from './versions.js';

const dialog = document.getElementById('models');
const select = document.getElementById('model');
const TITLE = dialog.ariaLabel;
let list = null;
let loading = null;
let choose; // the callback of the current opening, called with the chosen model

/** Open the picker of the model that answers from the next question on. */
export function openModelPicker(page) {
  return open(page, { title: TITLE, current: select.value, sees: document.querySelector('#composer .tray .picture') !== null }, (model) => useModel(page, model));
}

/**
 * Open the picker for another version of a reply, with only the models in the button's `data-only` if there are
 * any. The chosen model also answers the questions that follow, as it does on the server.
 */
export function openRegeneratePicker(chat, button) {
  const name = button.closest('article').querySelector('[data-part=model]').textContent;
  const current = Array.from(select.options).find(({ text }) => text === name)?.value;
  const shown = { title: dialog.dataset.regenerate, current, only: button.dataset.only?.split(' ') };
  return open(chat.page, shown, (model) => {
    showChoice(chat.page, model);
    regenerate(chat, button);
  });
}

async function open(page, { title, ...shown }, onChoice) {
  choose = onChoice;
  dialog.ariaLabel = title;
  loading ??= load(page);
  dialog.showModal();
  if (!(await loading) || !dialog.open) return;
  dialog.querySelector('.picker-title').textContent = title;
  list.show(shown);
}

async function load(page) {
  dialog.ariaBusy = 'true';
  const { was } = dialog.dataset; // the conversation's model, if that was retired
  const query = was ? `?was=${encodeURIComponent(was)}` : '';
  const html = await fetchHtml(page.url('models') + query).catch(() => '');
  const content = html ? parseTrustedHtml(html) : page.text('not-loaded');
  if (html) await loadStyles(content.querySelector('link'));
  dialog.ariaBusy = null;
  dialog.replaceChildren(content);
  if (html) list = new ModelList(page, dialog);
  else loading = null; // the next opening tries again
  return html !== '';
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

/** The next question names its model itself, so a failure to save does no harm. */
export function useModel(page, model) {
  if (model === select.value) return;
  showChoice(page, model);
  if (page.conversation) saveChange(page, page.url('settings', page.conversation), { model });
}

function showChoice(page, model) {
  select.value = model;
  select.dispatchEvent(new Event('change', { bubbles: true }));
  document.querySelector('#pick .label').textContent = page.modelName(model);
}
