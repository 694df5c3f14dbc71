import { fetchPart } from './api.js';
import { page } from './page.js';

const GAP_PX = 4; // between the menu and its button, and to the edge of the window
const ITEMS = 'a, button';
const known = new WeakSet(); // menus that have their listeners
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

let last = null; // the menu that was opened last

/** Open a menu beside its button. Arrow keys move in it; Escape and Tab close it and return the focus. */
export function openMenu(menu, button) {
  if (!known.has(menu)) listen(menu);
  if (menu.matches(':popover-open')) return menu.hidePopover();
  menu.opener = button;
  menu.showPopover();
  place(menu, button);
  menu.querySelector(ITEMS).focus({ preventScroll: true });
}

/** Set the roles here: a menu of links that works without scripts has no arrow keys then, and is none. */
function listen(menu) {
  known.add(menu);
  menu.role = 'menu';
  for (const item of menu.querySelectorAll(ITEMS)) item.role = 'menuitem';
  menu.addEventListener('keydown', (event) => onKeydown(menu, event));
  menu.addEventListener('toggle', ({ newState }) => {
    menu.opener.ariaExpanded = String(newState === 'open');
  });
}

function onKeydown(menu, event) {
  // In the drawer, itself a popover, the browser would not return the focus after Escape.
  if (event.key !== 'Tab' && event.key !== 'Escape') return moveFocus(event, Array.from(menu.querySelectorAll(ITEMS)));
  event.preventDefault();
  close(menu);
}

function close(menu) {
  menu.hidePopover();
  menu.opener.focus();
}

/** Place the menu below the button, aligned with its end, or above it if there is no room below. */
function place(menu, button) {
  const at = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = at.bottom + GAP_PX + height <= innerHeight;
  menu.style.insetBlockStart = `${below ? at.bottom + GAP_PX : at.top - GAP_PX - height}px`;
  const wanted = document.dir === 'rtl' ? at.left : at.right - width;
  const start = document.dir === 'rtl' ? innerWidth - wanted - width : wanted;
  menu.style.insetInlineStart = `${Math.min(Math.max(start, GAP_PX), innerWidth - width - GAP_PX)}px`;
}

/** Open the menu of a message. The server renders it, because it shows how many messages a deletion removes. */
export async function openMessageMenu(chat, button, dispatch) {
  const { message } = button.closest('article').dataset;
  const url = page.url('source', message).replace(/source\/$/, 'actions/');
  const part = await fetchPart(url).catch(() => null);
  if (!part) return location.assign(url);
  last?.remove();
  last = document.createElement('div');
  last.className = 'options';
  last.popover = 'auto';
  last.ariaLabel = button.ariaLabel;
  last.append(part);
  last.addEventListener('click', (event) => onItem(event, (name) => dispatch(chat, button, name)));
  document.body.append(last);
  openMenu(last, button);
}

/** Do what an entry says. The others are forms. */
function onItem(event, run) {
  const item = event.target.closest('[data-action]');
  if (!item) return;
  event.preventDefault();
  close(last);
  run(item.dataset.action);
}

/** Select an option of a list whose field keeps the focus, or none: https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
export function selectOption(field, options, selected) {
  for (const option of options) option.ariaSelected = String(option === selected);
  if (!selected) return field.removeAttribute('aria-activedescendant');
  field.setAttribute('aria-activedescendant', selected.id);
  return selected.scrollIntoView({ block: 'nearest' });
}

/**
 * Return the index of the menu item that a key leads to: arrow keys wrap around, a letter leads to the next
 * name that begins with it.
 * @param {string[]} names  the items' texts
 * @param {number} current  the index of the item that has the focus
 * @returns {number} -1: the key does nothing
 */
export function nextIndex(key, names, current) {
  if (key in STEPS) return (current + STEPS[key] + names.length) % names.length;
  if (key === 'Home') return 0;
  if (key === 'End') return names.length - 1;
  if (!/^\S$/u.test(key)) return -1;
  const matches = names.map((name) => name.toLowerCase().startsWith(key.toLowerCase()));
  const next = matches.indexOf(true, current + 1);
  return next < 0 ? matches.indexOf(true) : next;
}

/** Move the focus in a menu by a keydown. */
function moveFocus(event, items) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const names = items.map(({ textContent }) => textContent.trim());
  const next = items[nextIndex(event.key, names, items.indexOf(document.activeElement))];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
