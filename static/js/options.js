const GAP = 4; // pixels
const STEPS = { ArrowDown: 1, ArrowUp: -1 };
const wired = new WeakSet();

/** Open a menu beside its button. Arrow keys move in it; Escape and Tab close it and return the focus. */
export function openMenu(menu, button) {
  if (!wired.has(menu)) wire(menu);
  if (menu.matches(':popover-open')) return menu.hidePopover();
  menu.opener = button;
  menu.showPopover();
  place(menu, button);
  menu.querySelector('[role=menuitem]').focus({ preventScroll: true });
}

function wire(menu) {
  wired.add(menu);
  menu.addEventListener('keydown', (event) => walk(menu, event));
  menu.addEventListener('toggle', ({ newState }) => {
    menu.opener.ariaExpanded = String(newState === 'open');
  });
}

function walk(menu, event) {
  const items = Array.from(menu.querySelectorAll('[role=menuitem]'));
  const at = items.indexOf(document.activeElement);
  const step = STEPS[event.key];
  if (step) items.at((at + step) % items.length).focus();
  else if (event.key === 'Tab') leave(menu);
  else return;
  event.preventDefault();
}

function leave(menu) {
  menu.hidePopover();
  menu.opener.focus();
}

/** Place the menu below the button, aligned with its end, or above it if there is no room below. */
function place(menu, button) {
  const at = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = at.bottom + GAP + height <= innerHeight;
  menu.style.insetBlockStart = `${below ? at.bottom + GAP : at.top - GAP - height}px`;
  const wanted = document.dir === 'rtl' ? at.left : at.right - width;
  const start = document.dir === 'rtl' ? innerWidth - wanted - width : wanted;
  menu.style.insetInlineStart = `${Math.min(Math.max(start, GAP), innerWidth - width - GAP)}px`;
}
