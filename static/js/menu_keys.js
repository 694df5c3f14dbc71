const STEPS = { ArrowDown: 1, ArrowUp: -1 };

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
export function moveFocus(event, items) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const names = items.map(({ textContent }) => textContent.trim());
  const next = items[nextIndex(event.key, names, items.indexOf(document.activeElement))];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
