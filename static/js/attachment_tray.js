import { saveChange, withLogin } from './api.js';
import { openDialog, sentence } from './attachment_parts.js';
import { AttachmentRow } from './attachment_row.js';
import { announce, cloneTemplate, page } from './page.js';
import { TrayLimits } from './tray_limits.js';
import { deleteUpload, guessKind, isRetryable, listed, upload } from './upload.js';

const MAX_ATTACHMENTS = 8; // of a message
const WAIT = 'files-wait'; // the notice that goes when all files are there
const MISSING = 'files-missing'; // the notice that goes when one of them is removed, as do those with FAILED
const FAILED = 'files-failed';
const BY_MODEL = ['model_cannot_see', 'too_long']; // codes of refusals that another model, or fewer files, may not meet

/** @typedef {import('./attachment_parts.js').Attachment} Attachment */

/** The attachments of a question that is being written. They are uploaded one after the other. */
export class AttachmentTray {
  #words;
  #limits;
  #root;
  #resized;
  #changed = () => {};
  #items = []; // {attachment?, row, file?, upload: AbortController, hasFailed?, saving?: Promise, written?}; a pasted file: see background.js
  #failures = []; // sentences: why files of the last choice were not added
  #names = new Map(); // of all attachments that were in the tray, by id
  #unsent = []; // attachments that left the tray and are not accepted yet
  #loading = Promise.resolve();
  #text = (name, values) => sentence(this.#words, name, values);
  #missing = () => this.#items.filter(({ attachment, saving }) => !attachment || saving);

  /**
   * @param {{words: HTMLElement, before: Element, resized?: () => void, changed: (draft: Attachment[]) => void}} options
   * @param {Attachment[]} attachments
   */
  constructor({ words, before, resized = () => {}, changed }, attachments = []) {
    this.#words = words;
    this.#limits = new TrayLimits(words);
    this.#resized = resized;
    this.#root = cloneTemplate('tray-template');
    before.before(this.#root);
    // Another branch may be shown since the last change.
    this.#root.parentElement.addEventListener('focusin', () => this.#showLimits());
    this.#root.addEventListener('click', (event) => this.#onClick(event));
    document.getElementById('model')?.addEventListener('change', () => this.#onModelChange());
    addEventListener('online', () => this.#retryAll());
    addEventListener('attachments-missing', ({ detail }) => this.#removeLost(detail));
    this.put(attachments);
    this.#changed = changed;
  }

  get size() {
    return this.#items.length;
  }

  /** The attachments that the server has. */
  get attachments() {
    return this.#items.flatMap(({ attachment }) => attachment ?? []);
  }

  /** What a draft keeps: of a file that the server has not yet, its name. A pasted text stands in the draft of its box. */
  get draft() {
    return this.#items.flatMap(({ attachment, file }) => attachment ?? (file.pasted ? [] : { name: file.name }));
  }

  /** Return whether the server has all files and descriptions; if not, say so. */
  isReady() {
    const missing = this.#missing();
    if (!missing.length) return true;
    if (missing.some(({ hasFailed }) => hasFailed)) page.setNotice(this.#text('missing'), '', MISSING);
    else page.setNotice(this.#text('wait'), '', WAIT);
    return false;
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    const all = Array.from(files);
    const chosen = all.filter((file) => this.#limits.takes(guessKind(file)));
    const room = MAX_ATTACHMENTS - this.size;
    this.#failures = [];
    page.setNotice('');
    if (chosen.length < all.length) this.#sayFailure(this.#text('blind'));
    this.#sayLeftOut('most', chosen.slice(room));
    const items = chosen.slice(0, room).map((file) => this.#addRow(guessKind(file), file.name, file));
    for (const item of items) this.#loading = this.#loading.then(() => this.#upload(item));
    this.#update();
    await this.#loading;
  }

  /** Show attachments that the server has, and name the files of a draft that it never got. */
  put(draft) {
    const attachments = draft.filter(({ id }) => id);
    const room = MAX_ATTACHMENTS - this.size;
    this.#sayLeftOut('lost', draft.filter(({ id }) => !id));
    this.#sayLeftOut('most', attachments.slice(room));
    for (const attachment of attachments.slice(0, room)) {
      const item = this.#addRow(attachment.kind, attachment.name);
      this.#fill(item, attachment);
      // The picture of a deleted attachment says so itself.
      if (attachment.kind === 'document' && !attachment.isSent) this.#removeIfGone(item);
    }
    this.#update();
  }

  /** Empty the tray. Its attachments stay in the draft until the server has accepted them. @returns {Attachment[]} */
  take() {
    this.#unsent = this.attachments;
    for (const { row } of this.#items.splice(0)) row.element.remove();
    this.#update();
    return this.#unsent;
  }

  onAccepted() {
    this.#unsent = [];
    this.#update();
  }

  restore() {
    const attachments = this.#unsent;
    this.#unsent = [];
    this.put(attachments);
  }

  /** @param {{name: string}[]} files  for which the tray has no room, or which are lost */
  #sayLeftOut(why, files) {
    if (!files.length) return;
    this.#sayFailure(this.#text(why, { names: listed(files.map(({ name }) => name), (n) => this.#text('more', { n })) }));
  }

  /** Say why a file was not added. The messages about files before it stay. */
  #sayFailure(sentence) {
    this.#failures.push(sentence);
    page.setNotice(''); // it may have the same code
    page.setNotice(this.#failures.join(' '), '', FAILED);
  }

  #addRow(kind, name, file) {
    const item = { file, upload: new AbortController(), row: new AttachmentRow(this.#words, kind, name) };
    this.#items.push(item);
    this.#root.querySelector('ul').append(item.row.element);
    return item;
  }

  #fill(item, attachment) {
    item.attachment = attachment;
    this.#names.set(attachment.id, attachment.name);
    item.row.show(attachment, () => this.#removeIfGone(item));
  }

  async #upload(item) {
    if (!this.#items.includes(item)) return;
    const { status, body } = await withLogin(() => upload(this.#words.dataset.url, item.file, item.row.progress, item.upload.signal));
    if (!this.#items.includes(item)) return;
    if (status === 201) {
      this.#fill(item, { ...body, isPasted: Boolean(item.file.pasted) });
      this.#update();
      item.file.forget?.();
      announce([this.#text('added', { name: body.name }), this.#hints].filter(Boolean).join('. '));
      return;
    }
    item.hasFailed = isRetryable(status); // the file is kept: a pasted one is nowhere else
    if (item.hasFailed) item.row.showFailure(true);
    else if (item.file.pasted) this.#toText(item); // it is nowhere else
    else this.#remove(item);
    this.#sayFailure(body.error?.message ? `${item.file.name}: ${body.error.message}` : this.#text('failed', item.file));
  }

  #retry(item) {
    item.hasFailed = false;
    item.row.showFailure(false);
    page.setNotice('');
    this.#loading = this.#loading.then(() => this.#upload(item));
  }

  #retryAll() {
    for (const item of this.#items) if (item.hasFailed) this.#retry(item);
  }

  #onClick({ target }) {
    const button = target.closest('[data-do]');
    const item = this.#items.find(({ row }) => row.element.contains(button));
    if (button?.dataset.do === 'remove') this.#removeByHand(item);
    else if (button?.dataset.do === 'retry') this.#retry(item);
    else if (button?.dataset.do === 'text') this.#toText(item);
    else if (button?.dataset.do === 'open') openDialog(item.attachment, item.attachment.isSent ? undefined : (alt) => this.#describe(item, alt), item.written);
  }

  /** Put a pasted text into the box instead. */
  #toText(item) {
    import('./pasted_text.js').then(({ putInto }) => putInto(this.#box, item)).then(() => this.#removeByHand(item), () => page.showNotice('not-loaded'));
  }

  /** Save a description, after those of the same picture that are still being saved. */
  async #describe(item, alt) {
    const { attachment, row } = item;
    item.written = alt; // stays in the dialog if it cannot be saved
    const save = () => (alt === attachment.alt ? '' : saveChange(attachment.url, { alt }));
    const saving = (item.saving = Promise.resolve(item.saving).then(save));
    const error = await saving;
    if (item.saving === saving) item.saving = null;
    if (!this.#items.includes(item)) return;
    page.clearNotice(FAILED);
    if (error) page.setNotice(error, '', FAILED);
    else row.describe(Object.assign(attachment, { alt }));
    this.#update();
  }

  /** Remove an attachment, and give the focus to the next one, or to the text. */
  #removeByHand(item) {
    const place = this.#items.indexOf(item);
    const { attachment } = item;
    this.#remove(item);
    if (attachment && !attachment.isSent) deleteUpload(attachment.url);
    const next = this.#items[place] ?? this.#items[place - 1];
    (next?.row ?? this.#box).focus();
  }

  /** Remove an attachment of a draft that the server has deleted: it keeps those for a day. */
  async #removeIfGone(item) {
    const response = await fetch(item.attachment.url, { method: 'HEAD' }).catch(() => null);
    if (response?.status === 404) this.#remove(item);
  }

  /** Remove what the server refused as missing, such as sent from another tab, and name it. */
  #removeLost({ attachments, message }) {
    for (const item of this.#items.filter(({ attachment }) => attachments.includes(attachment?.id))) this.#remove(item);
    const names = attachments.flatMap((id) => this.#names.get(id) ?? []); // also of those that left meanwhile
    const unnamed = names.filter((name) => !message.includes(name));
    if (unnamed.length) page.setNotice(`${unnamed.join(', ')}: ${message}`);
  }

  #remove(item) {
    this.#items = this.#items.filter((other) => other !== item);
    page.clearNotice(FAILED, MISSING, ...BY_MODEL);
    item.upload.abort();
    item.row.element.remove();
    this.#update();
    item.file?.forget?.();
  }

  #update() {
    this.#root.hidden = !this.size;
    this.#showLimits();
    if (!this.#missing().length) page.clearNotice(WAIT);
    this.#resized();
    this.#changed([...this.#unsent, ...this.draft]);
  }

  #onModelChange() {
    page.clearNotice(...BY_MODEL);
    this.#showLimits();
    announce(this.#hints);
  }

  #showLimits() {
    if (this.#limits.show(this.#root, this.#items)) this.#box.focus(); // a button has opened the list of models
  }

  get #box() {
    return this.#root.parentElement.querySelector('textarea');
  }

  get #hints() {
    return this.#limits.text(this.#root, this.#items);
  }
}
