import { showWhole } from './conversation_item.js';

const LINKS = 'li:not([hidden]) > a, .earlier';
const TITLES = 'li > a';

/**
 * Make the list of conversations one tab stop: the arrow keys, Home and End move in it, and the arrow towards the end of
 * a row reaches its menu. https://www.w3.org/WAI/ARIA/apg/practices/keyboard-interface/#kbd_roving_tabindex
 * Without this module each link is a stop.
 * @param {HTMLElement} root  its items may change at any time
 */
export function addListKeys(root) {
  let stop = null;
  const update = () => {
    const links = Array.from(root.querySelectorAll(LINKS));
    const focused = rowOf(document.activeElement);
    stop = [focused, stop].find((link) => links.includes(link)) ?? root.querySelector('a[aria-current]') ?? links[0];
    for (const each of root.querySelectorAll('a, .options-button')) each.tabIndex = each === stop ? 0 : -1;
  };
  root.addEventListener('focusin', update);
  root.addEventListener('keydown', (event) => onKeydown(event, Array.from(root.querySelectorAll(LINKS))));
  root.addEventListener('pointerover', ({ target }) => target.matches(TITLES) && showWhole(target));
  new MutationObserver(update).observe(root, { childList: true, subtree: true, attributeFilter: ['hidden'] });
  update();
}

/** @returns {HTMLElement|null} the link of the row that has this element; null in the field of a new title */
function rowOf(element) {
  if (element.matches('#conversations a')) return element;
  return element.matches('#conversations .options-button') ? element.parentElement.querySelector('a') : null;
}

function onKeydown(event, links) {
  const link = rowOf(event.target);
  if (!link || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const wanted = targetOf(event.key, link, links);
  if (!wanted) return;
  event.preventDefault();
  wanted.focus();
}

function targetOf(key, link, links) {
  const [start, end] = document.dir === 'rtl' ? ['ArrowRight', 'ArrowLeft'] : ['ArrowLeft', 'ArrowRight'];
  const at = links.indexOf(link);
  const targets = { ArrowDown: links[at + 1], ArrowUp: links[at - 1], Home: links[0], End: links.at(-1), [start]: link };
  return key === end ? link.closest('li')?.querySelector('.options-button') : targets[key];
}

/** Bring the latest reply into view and give it the focus: the target of a skip link, which changes while the page is open. */
export function focusLatest() {
  const latest = Array.from(document.querySelectorAll('#thread .reply, #thread .question')).at(-1);
  if (!latest) return;
  latest.tabIndex = -1;
  latest.focus({ preventScroll: true });
  latest.scrollIntoView({ block: 'start' });
}
