import { fetchPart } from './api.js';
import { cloneTemplate, fill, page } from './page.js';

export const SESSION_ENDED = [401, 403]; // 403: a sign-in in another tab has made this page's CSRF token invalid

let parts; // a promise of the templates, the sentences and the dialog, which the server has rendered

/**
 * Load what the page does not have before a file is added. A person whose session has ended logs in first.
 * @returns {Promise<HTMLElement>} with the sentences
 */
export async function loadParts() {
  try {
    return await peekParts();
  } catch (error) {
    if (!SESSION_ENDED.includes(error.status)) throw error;
    const { login } = await import('./login_dialog.js');
    if (!(await login())) throw error;
    return peekParts();
  }
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
export function pictureOf(link) {
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
