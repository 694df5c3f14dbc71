import { moveFocus } from './menu_keys.js';

const GAP_PX = 4; // between the menu and its button, and to the edge of the window
const ITEMS = 'a, button';
const known = new WeakSet(); // menus that have their listeners

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
