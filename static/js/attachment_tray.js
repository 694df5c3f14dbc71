import { saveChange } from './api.js';
import { sentence } from './attachment_parts.js';
import { AttachmentRow } from './attachment_row.js';
import { guessKind, isRetryable, listed } from './chosen_files.js';
import { announce, cloneTemplate } from './page.js';
import { openDialog } from './picture_dialog.js';
import { promptTokens, TrayLimits } from './tray_limits.js';
import { Upload } from './upload.js';

const MAX_ATTACHMENTS = 8; // of a message
const WAIT = 'files-wait'; // the notice that goes when all files are there

/** @typedef {import('./sent_attachments.js').Attachment} Attachment */

/** The attachments of a question that is being written. They are uploaded one after the other. */
export class AttachmentTray {
  #page;
  #words;
  #limits;
  #root;
  #resized;
  #changed = () => {};
  #items = []; // {attachment?, row, file?, upload?, hasFailed?}
  #failures = []; // sentences: why files of the last choice were not added
  #names = new Map(); // of all attachments that were in the tray, by id
  #unsent = []; // attachments that left the tray and are not accepted yet
  #loading = Promise.resolve();

  /**
   * @param {{page: object, words: HTMLElement, before: Element, resized?: () => void,
   *   changed: (attachments: Attachment[]) => void}} options  `changed` gets the attachments of the draft
   * @param {Attachment[]} attachments
   */
  constructor({ page, words, before, resized = () => {}, changed }, attachments = []) {
    this.#page = page;
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

  /** Return whether all files are uploaded; if not, say so. */
  isReady() {
    const missing = this.#items.filter(({ attachment }) => !attachment);
    if (!missing.length) return true;
    this.#page.setNotice(this.#text(missing.some(({ hasFailed }) => hasFailed) ? 'missing' : 'wait'), '', WAIT);
    return false;
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    const chosen = Array.from(files);
    const room = MAX_ATTACHMENTS - this.size;
    this.#failures = [];
    this.#page.setNotice('');
    this.#sayLeftOut(chosen.slice(room));
    const items = chosen.slice(0, room).map((file) => this.#addRow(guessKind(file), file.name, file));
    for (const item of items) this.#loading = this.#loading.then(() => this.#upload(item));
    this.#update();
    await this.#loading;
  }

  /** Show attachments that the server has. */
  put(attachments) {
    const room = MAX_ATTACHMENTS - this.size;
    this.#sayLeftOut(attachments.slice(room));
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
    for (const { row } of this.#items) row.element.remove();
    this.#items = [];
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

  /** @param {{name: string}[]} files  for which the tray has no room */
  #sayLeftOut(files) {
    if (!files.length) return;
    const names = listed(files.map(({ name }) => name), (n) => this.#text('more', { n }));
    this.#failures.push(this.#text('most', { names }));
    this.#page.setNotice(this.#failures.join(' '));
  }

  #text(name, values) {
    return sentence(this.#words, name, values);
  }

  #addRow(kind, name, file) {
    const item = { file, row: new AttachmentRow(this.#words, kind, name) };
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
    item.upload = new Upload(this.#page, this.#words.dataset.url, item.row.progress);
    const { status, body } = await item.upload.send(item.file);
    if (!this.#items.includes(item)) return;
    if (status === 201) {
      this.#fill(item, body);
      this.#update();
      announce([this.#text('added', { name: body.name }), this.#hints.join(' ')].filter(Boolean).join('. '));
      return;
    }
    if (isRetryable(status)) this.#fail(item);
    else this.#remove(item);
    this.#explain(item.file.name, body.error?.message);
  }

  /** Keep the file: a pasted one is nowhere else. */
  #fail(item) {
    item.hasFailed = true;
    item.row.showFailure(true);
  }

  #retry(item) {
    item.hasFailed = false;
    item.row.showFailure(false);
    this.#page.setNotice('');
    this.#loading = this.#loading.then(() => this.#upload(item));
  }

  #retryAll() {
    for (const item of this.#items) if (item.hasFailed) this.#retry(item);
  }

  /** Say why a file was not added. The messages about files before it stay. */
  #explain(name, message) {
    this.#failures.push(message ? `${name}: ${message}` : this.#text('failed', { name }));
    this.#page.setNotice(this.#failures.join(' '));
  }

  #onClick({ target }) {
    const button = target.closest('[data-do]');
    const item = this.#items.find(({ row }) => row.element.contains(button));
    if (button?.dataset.do === 'remove') this.#removeByHand(item);
    else if (button?.dataset.do === 'retry') this.#retry(item);
    else if (button?.dataset.do === 'open') this.#open(item);
  }

  #open(item) {
    const { attachment } = item;
    openDialog(attachment, attachment.isSent ? undefined : (alt) => this.#describe(item, alt));
  }

  async #describe({ attachment, row }, alt) {
    if (alt === attachment.alt) return;
    const error = await saveChange(this.#page, attachment.url, { alt });
    if (error) {
      this.#page.setNotice(error);
      return;
    }
    attachment.alt = alt;
    row.describe(attachment);
    this.#update();
  }

  /** Remove an attachment, and give the focus to the next one, or to the text. */
  #removeByHand(item) {
    const place = this.#items.indexOf(item);
    const { attachment } = item;
    this.#remove(item);
    if (attachment && !attachment.isSent) this.#delete(attachment);
    const next = this.#items[place] ?? this.#items[place - 1];
    if (next) next.row.focus();
    else this.#focusText();
  }

  #focusText() {
    this.#root.parentElement.querySelector('textarea').focus();
  }

  /** Remove an attachment of a draft that the server has deleted: it keeps those for a day. */
  async #removeIfGone(item) {
    const response = await fetch(item.attachment.url, { method: 'HEAD' }).catch(() => null);
    if (response?.status === 404) this.#remove(item);
  }

  /** Remove what the server refused as missing, such as sent from another tab, and name it. */
  #removeLost({ attachments, message }) {
    const lost = this.#items.filter(({ attachment }) => attachments.includes(attachment?.id));
    for (const item of lost) this.#remove(item);
    const names = attachments.flatMap((id) => this.#names.get(id) ?? []); // also of those that left meanwhile
    const unnamed = names.filter((name) => !message.includes(name));
    if (unnamed.length) this.#page.setNotice(`${unnamed.join(', ')}: ${message}`);
  }

  #remove(item) {
    this.#items = this.#items.filter((other) => other !== item);
    item.upload?.abort();
    item.row.element.remove();
    this.#update();
  }

  /** The server would delete it later by itself. */
  #delete({ url }) {
    const { token } = this.#page;
    fetch(url, { method: 'DELETE', headers: { 'X-CSRFToken': token, Accept: 'application/json' } }).catch(() => {});
  }

  #update() {
    this.#root.hidden = !this.size;
    this.#showLimits();
    if (this.attachments.length === this.size) this.#page.clearNotice(WAIT);
    this.#resized();
    this.#changed([...this.#unsent, ...this.attachments]);
  }

  #onModelChange() {
    this.#showLimits();
    announce(this.#hints.join(' '));
  }

  #showLimits() {
    const tokens = this.#tokens;
    for (const { row, attachment } of this.#items) {
      if (attachment?.kind === 'document') row.showCost(this.#limits.cost(attachment.tokens, tokens));
    }
    const hint = this.#root.querySelector('.tray-hint');
    const hadFocus = hint.contains(document.activeElement);
    hint.hidden = !this.#hints.length;
    if (hadFocus && hint.hidden) this.#focusText(); // its button has opened the list of models
    hint.querySelector('span').textContent = this.#hints.join(' ');
    hint.querySelector('button').hidden = !document.getElementById('model');
  }

  get #hints() {
    if (!this.size) return [];
    const hasPictures = this.#items.some(({ row }) => row.kind === 'picture');
    return this.#limits.hints({ hasPictures, tokens: this.#tokens });
  }

  get #tokens() {
    return promptTokens(this.#root, this.attachments);
  }
}
