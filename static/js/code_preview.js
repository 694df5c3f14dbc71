import { fetchHtml } from './api.js';
import { changeInPlace } from './code_actions.js';
import { parseTrustedHtml } from './page.js';
import { loadStyles } from './styles.js';

/** Show what a block of HTML or SVG looks like, in the place of its code, or the code again. */
export async function togglePreview(chat, button) {
  const figure = button.closest('figure');
  const code = figure.querySelector('pre');
  const shows = !code.hidden;
  const preview = shows ? await load(chat, button) : null;
  if (code.hidden === shows) return; // a second press while it was loading
  changeInPlace(chat, button, () => {
    if (shows) code.after(preview);
    else figure.querySelector('.code-preview').remove();
    code.hidden = shows;
    button.ariaPressed = String(shows);
  });
}

/** @returns {Promise<Element>} the frame, in which the server's policy runs no script and loads nothing */
async function load(chat, button) {
  const article = button.closest('article');
  const number = Array.from(article.querySelectorAll('.previewable')).indexOf(button.closest('figure')) + 1;
  const url = `${chat.page.url('preview', article.dataset.message)}?block=${number}`;
  const content = parseTrustedHtml(await fetchHtml(url));
  await loadStyles(content.querySelector('link'));
  return content.querySelector('.code-preview');
}
