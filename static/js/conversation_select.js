import { tellTabs } from './tabs.js';
import { Toast } from './toast.js';

/** Selection of several conversations: Shift selects a range, Ctrl+A all, Escape none; Space is the browser's own. */
const form = document.getElementById('select');
if (form) start(form);
if (document.querySelector('#toast, .saved')) tellTabs(''); // of the change that led to this page
if (document.getElementById('toast')) startToast();

/** Show the toast for a time. Back may bring this page again as it was, when its undo may have been used. */
function startToast() {
  const toast = new Toast();
  addEventListener('pageshow', ({ persisted }) => persisted && toast.close());
}

function start(form) {
  const boxes = Array.from(form.querySelectorAll('[name=conversations]'));
  const bar = form.querySelector('.select-bar');
  const tag = form.elements.tag; // the trash has none
  const [all, count] = ['all', 'count'].map((part) => bar.querySelector(`[data-part=${part}]`));
  let last = null; // the checkbox that was changed last: the start of a range
  let range = null; // the range that Shift and the arrow keys are changing

  const show = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    all.checked = chosen === boxes.length;
    all.indeterminate = chosen > 0 && !all.checked;
    count.textContent = chosen ? count.dataset.some.replace('{n}', chosen) : count.dataset.none;
    for (const button of form.querySelectorAll('button')) button.disabled = !chosen || (isTagging(button) && !tag.value.trim());
  };
  const choose = (wanted, checked) => {
    for (const box of wanted) box.checked = checked;
    show();
  };
  const extend = (from, to) => {
    if (range?.end !== from) range = startRange(boxes, from);
    range.end = to;
    last = range.start;
    boxes.forEach((box, n) => (box.checked = range.before[n]));
    choose(boxesBetween(boxes, range.start, to), range.checked);
  };

  form.addEventListener('click', ({ target, shiftKey }) => {
    const box = boxes.includes(target) ? target : null;
    if (!box) return;
    if (shiftKey && last) choose(boxesBetween(boxes, last, box), box.checked);
    last = box;
  });
  form.addEventListener('change', ({ target }) => {
    range = null;
    if (target === all) choose(boxes, all.checked);
    else show();
  });
  tag?.addEventListener('input', show);
  form.addEventListener('keydown', (event) => {
    const isExtended = onKeydown(event, boxes, { choose, extend });
    if (!isExtended && event.key !== 'Shift') range = null;
  });
  addEventListener('pageshow', show); // a page from the back/forward cache keeps the selection
  bar.querySelector('.select-all').hidden = false;
  show();
}

function isTagging({ name, value }) {
  return name === 'action' && (value === 'tag' || value === 'untag');
}

/** @returns {boolean} true if the key extended or shrank a range */
function onKeydown(event, boxes, { choose, extend }) {
  const { key, target, shiftKey, ctrlKey, metaKey } = event;
  if (!target.matches('[type=checkbox]')) return false;
  if (key === 'Enter') event.preventDefault(); // it would press the first button of the form
  if (key === 'Escape') choose(boxes, false);
  if (key.toLowerCase() === 'a' && (ctrlKey || metaKey)) {
    event.preventDefault();
    choose(boxes, true);
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const next = boxes[boxes.indexOf(target) + step];
  if (!step || !next) return false;
  event.preventDefault();
  next.focus();
  if (shiftKey && boxes.includes(target)) extend(target, next);
  return shiftKey;
}

/** Return a range that begins at a checkbox. It is changed like that one; what leaves it is as it was `before`. */
function startRange(boxes, start) {
  return { start, end: start, checked: start.checked, before: boxes.map(({ checked }) => checked) };
}

/** Return the checkboxes from one to another, both included, in the order of the page. */
function boxesBetween(boxes, one, other) {
  const [first, last] = [boxes.indexOf(one), boxes.indexOf(other)].sort((a, b) => a - b);
  return boxes.slice(first, last + 1);
}
