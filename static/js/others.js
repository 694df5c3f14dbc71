import { regenerate } from './branches.js';

const STEPS = { ArrowDown: 1, ArrowUp: -1 };
const EDGE = 8; // pixels between the menu and its button, and between the menu and the window's edge

/**
 * Open a menu of the models that could answer instead, or only of those in the button's `data-only`. The
 * chosen model also answers the questions that follow, as it does on the server.
 */
export function offer(chat, button) {
  const menu = document.createElement('div');
  Object.assign(menu, { className: 'others', popover: 'auto', role: 'menu', ariaLabel: button.ariaLabel ?? button.textContent });
  const said = button.closest('article').querySelector('[data-part=model]').textContent;
  const only = button.dataset.only?.split(' ');
  for (const { value, text } of document.getElementById('model').options) {
    if (!only || only.includes(value)) menu.append(itemOf(value, text, text === said));
  }
  menu.addEventListener('click', ({ target }) => choose(chat, button, menu, target.dataset.model));
  menu.addEventListener('keydown', (event) => walk(event, Array.from(menu.children)));
  const follow = () => place(menu, button.getBoundingClientRect());
  menu.addEventListener('toggle', ({ newState }) => newState === 'closed' && close(menu, button, follow));
  button.ariaExpanded = 'true';
  document.getElementById('chat').append(menu);
  menu.showPopover();
  follow();
  addEventListener('resize', follow);
  (menu.querySelector('[aria-current]') ?? menu.firstElementChild).focus({ preventScroll: true });
}

function itemOf(model, name, current) {
  const item = document.createElement('button');
  Object.assign(item, { type: 'button', role: 'menuitem', textContent: name });
  item.dataset.model = model;
  if (current) item.ariaCurrent = 'true';
  return item;
}

function choose(chat, button, menu, model) {
  if (!model) return;
  menu.hidePopover();
  const choice = document.getElementById('model');
  choice.value = model;
  choice.dispatchEvent(new Event('change', { bubbles: true }));
  regenerate(chat, button);
}

function close(menu, button, follow) {
  removeEventListener('resize', follow);
  button.ariaExpanded = 'false';
  if (menu.contains(document.activeElement)) button.focus({ preventScroll: true });
  menu.remove();
}

function walk(event, items) {
  if (event.key === 'Tab') return event.currentTarget.hidePopover();
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const names = items.map(({ textContent }) => textContent);
  const next = items[step(event.key, names, items.indexOf(document.activeElement))];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/**
 * Return the index to which a key leads in a menu: arrow keys wrap around, a letter leads to the next name
 * that begins with it.
 * @returns {number} -1: the key does nothing
 */
export function step(key, names, at) {
  if (key in STEPS) return (at + STEPS[key] + names.length) % names.length;
  if (key === 'Home') return 0;
  if (key === 'End') return names.length - 1;
  if (!/^\S$/u.test(key)) return -1;
  const begins = names.map((name) => name.toLowerCase().startsWith(key.toLowerCase()));
  const after = begins.indexOf(true, at + 1);
  return after < 0 ? begins.indexOf(true) : after;
}

/**
 * Place the menu at the beginning of its button, above it if that side has more room. It
 * scrolls with the page, as the button does.
 */
function place({ style, offsetWidth, offsetHeight }, button) {
  const above = button.top > innerHeight - button.bottom;
  const top = above ? Math.max(EDGE, button.top - offsetHeight - EDGE) : button.bottom + EDGE;
  const wanted = document.dir === 'rtl' ? button.right - offsetWidth : button.left;
  const left = Math.max(EDGE, Math.min(wanted, innerWidth - offsetWidth - EDGE));
  style.top = `${scrollY + top}px`;
  style.left = `${scrollX + left}px`;
}
