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

const GAP_PX = 8; // between the picker and the button that opened it, and the edges of the window
const WIDTH_PX = 576; // of the list of all models: see chat.css

/**
 * Open the picker of the model that answers from the next question on.
 * @param {HTMLElement} [opener]  in the message box, at which the picker stands; in the header it has its place
 */
export function openModelPicker(opener) {
  const edited = opener?.closest('.tray');
  const sees = Boolean((edited ?? document.querySelector('#composer .tray'))?.querySelector('.picture'));
  return open({ title: TITLE, current: select.value, sees }, (model) => useModel(model), edited && opener);
}

/**
 * Open the picker for another version of a reply, with only the models in the button's `data-only` if there are
 * any, and only those that see for a question with pictures. The chosen model also answers the questions that
 * follow, as it does on the server.
 */
export function openRegeneratePicker(chat, button) {
  const article = button.closest('article');
  const name = article.querySelector('[data-part=model]').textContent;
  const current = Array.from(select.options).find(({ text }) => text === name)?.value;
  const sees = Boolean(article.previousElementSibling?.querySelector('.pictures'));
  const shown = { title: dialog.dataset.regenerate, current, only: button.dataset.only?.split(' '), sees };
  return open(shown, (model) => {
    showChoice(model);
    regenerate(chat, button);
  }, button);
}

async function open({ title, ...shown }, onChoice, button) {
  choose = onChoice;
  dialog.ariaLabel = title;
  loading ??= load();
  dialog.showModal();
  placeAt(button);
  if (!(await loading) || !dialog.open) return;
  dialog.querySelector('.picker-title').textContent = title;
  list.show(shown);
}

/** Stand at a button: above or below it, where there is more room. On a narrow page the picker is at the foot. */
function placeAt(button) {
  dialog.removeAttribute('style');
  if (!button || !matchMedia('(width >= 40rem)').matches) return;
  const { top, bottom, left } = button.getBoundingClientRect();
  const [above, below] = [top, innerHeight - bottom].map((room) => room - 2 * GAP_PX);
  const start = Math.min(left, document.documentElement.clientWidth - WIDTH_PX - GAP_PX);
  const place = above > below ? `auto auto ${innerHeight - top + GAP_PX}px` : `${bottom + GAP_PX}px auto auto`;
  dialog.style.inset = `${place} ${Math.max(GAP_PX, start)}px`;
  dialog.style.maxBlockSize = `min(44rem, ${Math.max(above, below)}px)`;
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
  const door = target.closest('.door');
  if (star) list.toggleFavourite(star);
  else if (door) return door.value ? close(door.value) : list.showAll();
  else if (target === dialog || target.closest('[data-part=close]')) dialog.close(); // a click beside the dialog
  else if (target.type === 'radio' && detail > 0) close(target.value);
  else if (target.closest('label') && detail === 0 && target.type !== 'radio') event.preventDefault();
}

function onKeydown(event) {
  const { key, target } = event;
  if (target.matches('.door')) return moveBetweenDoors(event);
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

function moveBetweenDoors(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const shown = Array.from(dialog.querySelectorAll('.door:not([hidden])'));
  shown[(shown.indexOf(event.target) + step + shown.length) % shown.length].focus();
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

/** Show the model of this chat in the header, by the name of its door if it has one. */
export function showChoice(model) {
  select.value = model;
  select.dispatchEvent(new Event('change', { bubbles: true }));
  const { label, text } = select.selectedOptions[0];
  document.getElementById('pick').title = text;
  document.querySelector('#pick .label').textContent = label;
}
