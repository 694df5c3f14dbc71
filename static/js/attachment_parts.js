import { fetchPart, withLogin } from './api.js';
import { cloneTemplate, fill, page } from './page.js';

const TALL = 2.5; // times as high as wide: scaled to the window's height, it would be too narrow to be read

let parts; // a promise of the templates, the sentences and the dialog, which the server has rendered

/**
 * Load what the page does not have before a file is added. A person whose session has ended logs in first.
 * @returns {Promise<HTMLElement>} with the sentences
 */
export async function loadParts() {
  const found = await withLogin(() => peekParts().catch((error) => error));
  if (found instanceof Error) throw found;
  return found;
}

/** The same for what can be left out: nobody is asked to log in for it. */
export function peekParts() {
  parts ??= fetchParts();
  parts.catch(() => (parts = undefined)); // the next use tries again
  return parts;
}

/** @returns {string} one of the sentences, with these values in its places */
export function sentence(words, name, values) {
  return fill(words.dataset[name], values);
}

async function fetchParts() {
  document.body.append(await fetchPart(page.url('attachments')));
  return document.getElementById('attachment-words');
}

/**
 * @typedef {{kind: 'picture', id: string, url: string, name: string, width: number, height: number, alt: string,
 *   isSent?: boolean}} Picture
 * @typedef {{kind: 'document', id: string, url?: string, name: string, pages: number, pages_without_text?: number, tokens: number,
 *   text_url: string, isSent?: boolean}} Document  `url`: of the original; not of a sent one
 * @typedef {Picture|Document} Attachment
 */

/** @returns {Attachment[]} the attachments of a question in the thread */
export function attachmentsOf(article) {
  const [pictures, documents] = ['.pictures a', '.documents a'].map((links) => Array.from(article.querySelectorAll(links)));
  return [...pictures.map(pictureOf), ...documents.map(documentOf)];
}

/** @returns {Picture} the picture of a link in the thread */
function pictureOf(link) {
  const { alt, width, height } = link.querySelector('img');
  const { id, name } = link.dataset;
  return { kind: 'picture', id, name, url: link.getAttribute('href'), alt, width, height, isSent: true };
}

function documentOf(link) {
  const { id, name, pages, tokens } = link.dataset;
  const text_url = link.getAttribute('href');
  return { kind: 'document', id, name, pages: Number(pages), tokens: Number(tokens), text_url, isSent: true };
}

/** Show attachments in a question that has just been sent. */
export async function showAttachments(chat, article, attachments) {
  const words = await loadParts();
  const text = article.querySelector('[data-part=text]');
  const showAll = (kind, show) => {
    const shown = attachments.filter((attachment) => attachment.kind === kind);
    if (shown.length) text.before(createList(`sent-${kind}s-template`, shown, show));
  };
  showAll('picture', showPicture);
  showAll('document', (item, attachment) => showDocument(item, attachment, words));
  chat.followEnd();
}

export function showImage(image, { url, alt, width, height }) {
  Object.assign(image, { alt, width, height });
  if (image.getAttribute('src') !== url) image.src = url;
}

function createList(template, attachments, show) {
  const list = cloneTemplate(template);
  const item = list.firstElementChild;
  list.replaceChildren(...attachments.map((attachment) => {
    const copy = item.cloneNode(true);
    show(copy.querySelector('a'), attachment);
    return copy;
  }));
  return list;
}

function showPicture(link, picture) {
  const { id, url: href, name } = picture;
  const alt = picture.alt || name;
  Object.assign(link, { href, title: alt });
  Object.assign(link.dataset, { id, name });
  showImage(link.querySelector('img'), { ...picture, alt });
}

function showDocument(link, { id, text_url: href, name, pages, tokens }, words) {
  Object.assign(link, { href, title: name });
  Object.assign(link.dataset, { id, name, pages, tokens });
  link.querySelector('.document-name').textContent = name;
  const count = link.querySelector('.document-pages');
  if (pages > 1) count.textContent = sentence(words, 'pages', { n: pages });
  else count.remove();
}

/** Open a picture of the thread in its full size. */
export async function openPicture(chat, link) {
  try {
    await loadParts();
  } catch {
    location.assign(link.href);
    return;
  }
  openDialog(pictureOf(link));
}

/**
 * Open a picture in its full size.
 * @param {Picture} picture
 * @param {(alt: string) => void} [describe]  gets the alternative text; none: it cannot be changed
 * @param {string} [written]  the alternative text that was written last, even if it is not saved
 */
export function openDialog({ url, name, alt, width, height }, describe, written = alt) {
  const dialog = document.getElementById('picture');
  const form = dialog.querySelector('form');
  const save = form.querySelector('[value=save]');
  watchClicksBeside(dialog, () => (describe ? form.requestSubmit(save) : dialog.close()));
  showImage(dialog.querySelector('img'), { url, name, alt, width, height });
  showFrame(dialog.querySelector('.picture-frame'), height > TALL * width);
  dialog.querySelector('h2').textContent = name;
  dialog.querySelector('p').textContent = describe || alt === name ? '' : alt;
  dialog.querySelector('.picture-alt').hidden = !describe;
  form.elements.alt.value = written;
  save.hidden = !describe;
  form.onsubmit = ({ submitter }) => submitter.value && describe(form.elements.alt.value.trim());
  dialog.showModal();
  if (describe) form.elements.alt.focus();
}

/** Let a tall picture scroll, also by keys. */
function showFrame(frame, isTall) {
  frame.classList.toggle('tall', isTall);
  frame.tabIndex = isTall ? 0 : -1;
  frame.scrollTop = 0;
}

/** Both ends of the click count: a selection of text may end beside the dialog. */
function watchClicksBeside(dialog, then) {
  let pressed = null;
  dialog.onpointerdown = ({ target }) => void (pressed = target);
  dialog.onclick = ({ target }) => {
    if (target === dialog && pressed === dialog) then();
  };
}
