import { saveChange } from './api.js';
import { cloneTemplate, page } from './page.js';

const MAX_TITLE_LENGTH = 80; // characters
const INPUT_METHOD_KEY_CODE = 229; // WebKit bug 165004, as in composer.js

/**
 * Edit a title in a box that replaces it. Enter and leaving the box save; Escape does not.
 * @param {object} what
 * @param {string} what.conversation
 * @param {HTMLElement} what.shown  is replaced by the box, and gets the focus after Enter and Escape
 * @param {string} what.title
 * @returns {Promise<string>} the title from now on
 */
export function rename({ conversation, shown, title }) {
  const box = cloneTemplate('rename-template');
  box.value = title;
  shown.hidden = true;
  shown.before(box);
  box.focus();
  box.select();
  return new Promise((resolve) => {
    let ended = false;
    const end = (newTitle, refocus) => {
      if (ended) return; // removing the box also takes the focus from it
      ended = true;
      shown.hidden = false;
      box.remove();
      if (refocus) shown.focus();
      resolve(newTitle);
    };
    const save = (refocus) => ended || store(box, title, { conversation }, (newTitle) => end(newTitle, refocus));
    listen(box, save, () => end(title, true));
  });
}

function listen(box, store, cancel) {
  box.addEventListener('input', () => {
    box.setCustomValidity('');
    const letters = Array.from(box.value);
    if (letters.length > MAX_TITLE_LENGTH) box.value = letters.slice(0, MAX_TITLE_LENGTH).join('');
  });
  box.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (event.isComposing || event.keyCode === INPUT_METHOD_KEY_CODE) return;
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    if (event.key === 'Enter') store(true);
    else cancel();
  });
  box.addEventListener('blur', () => store(false));
}

/** Save the title. A box that is already being saved ignores the blur that saving it causes. */
async function store(box, title, { conversation }, end) {
  const wanted = box.value.trim().replace(/\s+/g, ' ');
  if (box.readOnly) return;
  if (!wanted || wanted === title) return end(title);
  box.readOnly = true;
  const error = await saveChange(page.url('rename', conversation), { title: wanted });
  box.readOnly = false;
  if (!error) return end(wanted);
  box.setCustomValidity(error);
  box.reportValidity();
}
