import { save } from './saving.js';
import { copy } from './transcript.js';

const LONGEST = 80; // characters
const INPUT_METHOD_KEY_CODE = 229; // WebKit bug 165004, as in composer.js

/**
 * Edit a title in a box that replaces it. Enter and leaving the box save; Escape does not.
 * @param {object} what
 * @param {import('./transcript.js').Page} what.page
 * @param {string} what.conversation
 * @param {HTMLElement} what.shown  is replaced by the box, and gets the focus after Enter and Escape
 * @param {string} what.title
 * @returns {Promise<string>} the title from now on
 */
export function rename({ page, conversation, shown, title }) {
  const box = copy('rename-template');
  box.value = title;
  shown.hidden = true;
  shown.before(box);
  box.focus();
  box.select();
  return new Promise((settle) => {
    let ended = false;
    const end = (now, back) => {
      if (ended) return; // removing the box also takes the focus from it
      ended = true;
      shown.hidden = false;
      box.remove();
      if (back) shown.focus();
      settle(now);
    };
    const keep = (back) => ended || store(box, title, { page, conversation }, (now) => end(now, back));
    listen(box, keep, () => end(title, true));
  });
}

function listen(box, store, cancel) {
  box.addEventListener('input', () => {
    box.setCustomValidity('');
    const letters = Array.from(box.value);
    if (letters.length > LONGEST) box.value = letters.slice(0, LONGEST).join('');
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
async function store(box, title, { page, conversation }, end) {
  const wanted = box.value.trim().replace(/\s+/g, ' ');
  if (box.readOnly) return;
  if (!wanted || wanted === title) return end(title);
  box.readOnly = true;
  const trouble = await save(page, page.url('rename', conversation), { title: wanted });
  box.readOnly = false;
  if (!trouble) return end(wanted);
  box.setCustomValidity(trouble);
  box.reportValidity();
}
