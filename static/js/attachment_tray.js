import { saveChange } from './api.js';
import { announce, cloneTemplate } from './page.js';
import { openDialog } from './picture_dialog.js';
import { showImage } from './pictures.js';
import { Upload } from './upload.js';

const MAX_PICTURES = 8; // of a message

/** @typedef {import('./pictures.js').Picture} Picture */

/** The pictures of a question that is being written. They are uploaded one after the other. */
export class AttachmentTray {
  #page;
  #words;
  #root;
  #hint;
  #resized;
  #changed = () => {};
  #items = []; // {picture?, row, file?, upload?}
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
    item.upload = new Upload(this.#page, this.#words.dataset.url, item.row.querySelector('progress'));
    const { status, body } = await item.upload.send(item.file);
    if (!this.#items.includes(item)) return;
    if (status === 201) {
      this.#fill(item, body);
      announce(this.#text('added', { name: body.name }));
      this.#update();
      return;
    }
    this.#remove(item);
    this.#page.setNotice(body.error?.message ?? this.#text('failed', { name: item.file.name }));
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
    item.upload?.abort();
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
