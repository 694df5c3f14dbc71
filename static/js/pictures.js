import { loadParts } from './attachment_parts.js';
import { cloneTemplate } from './page.js';

/**
 * @typedef {{id: string, url: string, name: string, width: number, height: number, alt: string}} Picture
 */

/** @returns {Picture[]} the pictures of a question in the thread */
export function picturesOf(article) {
  return Array.from(article.querySelectorAll('.pictures a'), pictureOf);
}

/** @returns {Picture} the picture of a link in the thread */
export function pictureOf(link) {
  const image = link.querySelector('img');
  const { id, name } = link.dataset;
  return { id, name, url: link.getAttribute('href'), alt: image.alt, width: image.width, height: image.height, isSent: true };
}

/** Show pictures in a question that has just been sent. */
export async function showPictures(chat, article, pictures) {
  await loadParts(chat.page);
  const list = cloneTemplate('sent-pictures-template');
  const item = list.firstElementChild;
  list.replaceChildren(...pictures.map((picture) => {
    const copy = item.cloneNode(true);
    const link = copy.querySelector('a');
    const alt = picture.alt || picture.name;
    Object.assign(link, { href: picture.url, title: alt });
    Object.assign(link.dataset, { id: picture.id, name: picture.name });
    showImage(link.querySelector('img'), { ...picture, alt });
    return copy;
  }));
  article.querySelector('[data-part=text]').before(list);
  chat.followEnd();
}

export function showImage(image, { url, alt, width, height }) {
  Object.assign(image, { alt, width, height });
  if (image.getAttribute('src') !== url) image.src = url;
}
