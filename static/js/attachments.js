import { fetchHtml, saveChange } from './api.js';
import { announce, cloneTemplate, parseTrustedHtml } from './page.js';
import { loadStyles } from './styles.js';

const MAX_PICTURES = 8; // of a message
const SESSION_ENDED = [401, 403]; // 403: a sign-in in another tab has made this page's CSRF token invalid

let parts; // a promise of the templates, the sentences and the dialog, which the server has rendered

/**
 * @typedef {{id: string, url: string, name: string, width: number, height: number, alt: string}} Picture
 */

/** Load what the page does not have before a picture is used. @returns {Promise<HTMLElement>} with the sentences */
function loadParts(page) {
  parts ??= fetchParts(page);
  parts.catch(() => (parts = undefined)); // the next use tries again
  return parts;
}

async function fetchParts(page) {
  const fragment = parseTrustedHtml(await fetchSignedIn(page, page.url('pictures')));
  await loadStyles(fragment.querySelector('link'));
  document.body.append(fragment);
  const dialog = document.getElementById('picture');
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
  return document.getElementById('picture-words');
}

/** Fetch a part of a page; a person whose session has ended logs in first. */
async function fetchSignedIn(page, url) {
  try {
    return await fetchHtml(url);
  } catch (error) {
    if (!SESSION_ENDED.includes(error.status)) throw error;
    const { login } = await import('./login_dialog.js');
    if (!(await login(page))) throw error;
    return fetchHtml(url);
  }
}

/** Add pictures to the question that is being written, or edited where the event was. */
export async function addPictures(chat, files, target) {
  const edit = target?.closest?.('.edit');
  const tray = edit ? await editTray(chat, edit) : await composerTray(chat);
  await tray.add(files);
}

/** @returns {Promise<PictureTray>} the pictures of the message box */
export async function composerTray(chat) {
  const { composer, page } = chat;
  const words = await loadParts(page);
  composer.pictures ??= new PictureTray({
    page,
    words,
    before: document.querySelector('#composer .attach'),
    resized: () => chat.followEnd(),
    changed: (pictures) => chat.savePictures(pictures),
  });
  return composer.pictures;
}

/** Put pictures into the message box: those of a queued message, or those that were in it when the page was left. */
export async function putBackPictures(chat, pictures) {
  (await composerTray(chat)).put(pictures);
}

/** @returns {Promise<PictureTray>} the pictures of an edited question: at first those that it has */
export async function editTray(chat, form, pictures = picturesOf(form.closest('article'))) {
  const words = await loadParts(chat.page);
  const changed = () => form.dispatchEvent(new Event('input'));
  form.pictures ??= new PictureTray({ page: chat.page, words, before: form.elements.content, changed }, pictures);
  return form.pictures;
}

/** @returns {Picture[]} the pictures of a question in the thread */
export function picturesOf(article) {
  return Array.from(article.querySelectorAll('.pictures a'), (link) => {
    const image = link.querySelector('img');
    const { id, name } = link.dataset;
    return { id, name, url: link.getAttribute('href'), alt: image.alt, width: image.width, height: image.height, isSent: true };
  });
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

/** Open a picture of the thread in its full size. */
export async function openPicture(chat, link) {
  const [picture] = picturesOf({ querySelectorAll: () => [link] });
  try {
    await loadParts(chat.page);
  } catch {
    location.assign(link.href);
    return;
  }
  openDialog(picture);
}

function openDialog({ url, name, alt, width, height }, describe) {
  const dialog = document.getElementById('picture');
  const form = dialog.querySelector('form');
  showImage(dialog.querySelector('img'), { url, name, alt, width, height });
  dialog.querySelector('h2').textContent = name;
  dialog.querySelector('p').textContent = describe || alt === name ? '' : alt;
  dialog.querySelector('.picture-alt').hidden = !describe;
  form.elements.alt.value = alt;
  form.querySelector('[value=save]').hidden = !describe;
  form.onsubmit = ({ submitter }) => submitter.value && describe(form.elements.alt.value.trim());
  dialog.showModal();
  if (describe) form.elements.alt.focus();
}

function showImage(image, { url, alt, width, height }) {
  Object.assign(image, { alt, width, height });
  if (image.getAttribute('src') !== url) image.src = url;
}

/** The pictures of a question that is being written. They are uploaded one after the other. */
export class PictureTray {
  #page;
  #words;
  #root;
  #hint;
  #resized;
  #changed = () => {};
  #items = []; // {picture?, row, request?}
  #unsent = []; // pictures that left the tray and are not accepted yet
  #loading = Promise.resolve();

  /**
   * @param {{page: object, words: HTMLElement, before: Element, resized?: () => void,
   *   changed: (pictures: Picture[]) => void}} options  `changed` gets the pictures of the draft
   * @param {Picture[]} pictures
   */
  constructor({ page, words, before, resized = () => {}, changed }, pictures = []) {
    this.#page = page;
    this.#words = words;
    this.#resized = resized;
    this.#root = cloneTemplate('tray-template');
    this.#hint = this.#root.querySelector('.tray-hint');
    before.before(this.#root);
    this.#root.addEventListener('click', (event) => this.#onClick(event));
    document.getElementById('model')?.addEventListener('change', () => this.#showHint());
    this.put(pictures);
    this.#changed = changed;
  }

  get size() {
    return this.#items.length;
  }

  /** The pictures that the server has. */
  get pictures() {
    return this.#shown;
  }

  get #shown() {
    return this.#items.flatMap(({ picture }) => picture ?? []);
  }

  /** Return whether all pictures are uploaded; if not, say so. */
  isReady() {
    const isReady = this.#items.every(({ picture }) => picture);
    if (!isReady) this.#page.setNotice(this.#text('wait'));
    return isReady;
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    this.#page.showNotice('');
    const chosen = Array.from(files);
    const room = MAX_PICTURES - this.size;
    if (chosen.length > room) this.#page.setNotice(this.#text('most'));
    const items = chosen.slice(0, room).map((file) => this.#addRow({ file, name: file.name }));
    for (const item of items) this.#loading = this.#loading.then(() => this.#upload(item));
    this.#update();
    await this.#loading;
  }

  /** Show pictures that the server has. */
  put(pictures) {
    for (const picture of pictures.slice(0, MAX_PICTURES - this.size)) this.#fill(this.#addRow(picture), picture);
    this.#update();
  }

  /** Empty the tray. Its pictures stay in the draft until the server has accepted them. @returns {Picture[]} */
  take() {
    this.#unsent = this.#shown;
    for (const item of this.#items) item.row.remove();
    this.#items = [];
    this.#update();
    return this.#unsent;
  }

  onAccepted() {
    this.#unsent = [];
    this.#update();
  }

  restore() {
    const pictures = this.#unsent;
    this.#unsent = [];
    this.put(pictures);
  }

  #text(name, values = {}) {
    return (this.#words.dataset[name] ?? '').replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
  }

  #addRow({ file, name }) {
    const row = cloneTemplate('picture-template');
    row.querySelector('.picture-name').textContent = name;
    row.querySelector('[data-do=remove]').ariaLabel = this.#text('remove', { name });
    row.querySelector('progress').ariaLabel = this.#text('uploading', { name });
    const item = { file, row };
    this.#items.push(item);
    this.#root.querySelector('ul').append(row);
    return item;
  }

  #fill(item, picture) {
    item.picture = picture;
    const { row } = item;
    const image = row.querySelector('img');
    image.onerror = () => this.#removeIfGone(item);
    showImage(image, picture);
    row.querySelector('progress').remove();
    row.querySelector('[data-do=open]').hidden = false;
    this.#nameRow(item);
  }

  #nameRow({ row, picture }) {
    const button = row.querySelector('[data-do=open]');
    button.ariaLabel = picture.isSent ? picture.alt || picture.name : this.#text('describe', { name: picture.alt || picture.name });
    button.title = button.ariaLabel;
    row.querySelector('.picture-name').textContent = picture.alt || (picture.isSent ? '' : this.#text('undescribed'));
  }

  async #upload(item) {
    if (!this.#items.includes(item)) return;
    const { status, body } = await this.#send(item);
    if (!this.#items.includes(item)) return;
    if (status === 201) {
      this.#fill(item, body);
      announce(this.#text('added', { name: body.name }));
      this.#update();
      return;
    }
    this.#remove(item);
    if (status !== null) this.#page.setNotice(body.error?.message ?? this.#text('failed', { name: item.file.name }));
  }

  /** @returns {Promise<{status: number, body: object}>} status 0: no answer */
  async #send(item, retries = 1) {
    const answer = await this.#request(item);
    if (!retries || !SESSION_ENDED.includes(answer.status)) return answer;
    const { login } = await import('./login_dialog.js');
    return (await login(this.#page)) ? this.#send(item, retries - 1) : answer;
  }

  /** XMLHttpRequest reports the progress of an upload, which `fetch` does not. */
  #request(item) {
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.append('file', item.file, item.file.name);
    item.request = request;
    const progress = item.row.querySelector('progress');
    request.upload.onprogress = ({ loaded, total }) => Object.assign(progress, { max: total, value: loaded });
    request.open('POST', this.#words.dataset.url);
    request.setRequestHeader('X-CSRFToken', this.#page.token);
    request.setRequestHeader('Accept', 'application/json');
    return new Promise((resolve) => {
      request.onloadend = () => resolve({ status: request.status, body: parseJson(request.responseText) });
      request.send(form);
    });
  }

  #onClick({ target }) {
    const button = target.closest('[data-do]');
    const item = this.#items.find(({ row }) => row.contains(button));
    if (button?.dataset.do === 'remove') this.#removeByHand(item);
    else if (button?.dataset.do === 'open') this.#open(item);
  }

  #open(item) {
    const { picture } = item;
    openDialog(picture, picture.isSent ? undefined : (alt) => this.#describe(item, alt));
  }

  async #describe(item, alt) {
    const { picture } = item;
    if (alt === picture.alt) return;
    const error = await saveChange(this.#page, picture.url, { alt });
    if (error) {
      this.#page.setNotice(error);
      return;
    }
    picture.alt = alt;
    item.row.querySelector('img').alt = alt;
    this.#nameRow(item);
    this.#update();
  }

  /** Remove a picture, and give the focus to the next one, or to the text. */
  #removeByHand(item) {
    const place = this.#items.indexOf(item);
    const { picture } = item;
    this.#remove(item);
    if (picture && !picture.isSent) this.#delete(picture);
    const next = this.#items[place] ?? this.#items[place - 1];
    if (next) next.row.querySelector('[data-do=remove]').focus();
    else this.#root.parentElement.querySelector('textarea').focus();
  }

  /** Remove a picture of a draft that the server has deleted: it keeps those for a day. */
  async #removeIfGone(item) {
    const response = await fetch(item.picture.url, { method: 'HEAD' }).catch(() => null);
    if (response?.status === 404) this.#remove(item);
  }

  #remove(item) {
    this.#items = this.#items.filter((other) => other !== item);
    item.request?.abort();
    item.row.remove();
    this.#update();
  }

  /** The server would delete it later by itself. */
  #delete({ url }) {
    const { token } = this.#page;
    fetch(url, { method: 'DELETE', headers: { 'X-CSRFToken': token, Accept: 'application/json' } }).catch(() => {});
  }

  #update() {
    this.#root.hidden = !this.size;
    this.#showHint();
    this.#resized();
    this.#changed([...this.#unsent, ...this.#shown]);
  }

  /** Say that the chosen model cannot see, before the server refuses the message. */
  #showHint() {
    const option = document.getElementById('model')?.selectedOptions[0];
    const isBlind = this.size > 0 && option && option.dataset.sees === undefined;
    this.#hint.hidden = !isBlind;
    if (isBlind) this.#hint.querySelector('span').textContent = this.#text('blind', { model: option.text });
  }
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
