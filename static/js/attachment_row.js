import { sentence, showImage } from './attachment_parts.js';
import { cloneTemplate } from './page.js';

/** @typedef {import('./attachment_parts.js').Attachment} Attachment */

/** A row of a tray: a picture's square, or a document's name with its size. */
export class AttachmentRow {
  #words;

  /**
   * @param {HTMLElement} words  see attachment_parts.js
   * @param {'picture'|'document'} kind  of a file that is not uploaded, a guess
   * @param {string} name
   */
  constructor(words, kind, name) {
    this.#words = words;
    this.#create(kind, name);
  }

  get progress() {
    return this.#find('progress');
  }

  /**
   * Show an attachment that the server has.
   * @param {Attachment} attachment
   * @param {() => void} onError  its picture cannot be loaded
   */
  show(attachment, onError) {
    if (attachment.kind !== this.kind) this.#changeKind(attachment);
    this.progress.remove();
    this.#find('[data-do=retry]').remove();
    if (attachment.kind === 'document') this.#showDocument(attachment);
    else this.#showPicture(attachment, onError);
  }

  /** Show the alternative text of a picture as its name. */
  describe({ name, alt, isSent }) {
    const button = this.#find('[data-do=open]');
    button.ariaLabel = button.title = isSent ? alt || name : sentence(this.#words, 'describe', { name: alt || name });
    this.#find('img').alt = alt;
    this.#find('.attachment-name').textContent = alt || (isSent ? '' : sentence(this.#words, 'undescribed'));
  }

  /** @param {{text: string, title: string}} cost  of a document, with the chosen model */
  showCost({ text, title }) {
    this.#find('.document-cost').textContent = text;
    this.element.title = title;
  }

  /** Offer to upload the file again, or take that back. */
  showFailure(hasFailed) {
    const button = this.#find('[data-do=retry]');
    if (button === document.activeElement) this.focus();
    button.hidden = !hasFailed;
    this.progress.hidden = hasFailed;
  }

  focus() {
    this.#find('[data-do=remove]').focus();
  }

  #create(kind, name) {
    this.kind = kind;
    this.element = cloneTemplate(`tray-${kind}-template`);
    Object.assign(this.#find('.attachment-name'), { textContent: name, title: name });
    this.#find('[data-do=remove]').ariaLabel = sentence(this.#words, 'remove', { name });
    const retry = sentence(this.#words, 'retry', { name });
    Object.assign(this.#find('[data-do=retry]'), { ariaLabel: retry, title: retry });
    this.progress.ariaLabel = sentence(this.#words, 'uploading', { name });
  }

  /** Only the server knows what a file is. */
  #changeKind({ kind, name }) {
    const former = this.element;
    const hadFocus = former.contains(document.activeElement);
    this.#create(kind, name);
    former.replaceWith(this.element);
    if (hadFocus) this.focus();
  }

  #showPicture(picture, onError) {
    const image = this.#find('img');
    image.onerror = onError;
    showImage(image, picture);
    this.#find('[data-do=open]').hidden = false;
    this.describe(picture);
  }

  #showDocument({ name, isPasted, pages, pages_without_text: withoutText, text_url: href }) {
    const link = this.#find('a');
    Object.assign(link, { href, hidden: Boolean(isPasted), ariaLabel: sentence(this.#words, 'view', { name }) });
    this.#find('[data-do=text]').hidden = !isPasted;
    if (isPasted) this.#find('.attachment-name').textContent = name.replace('.txt', '');
    const parts = [pages > 1 && this.#count('pages', pages), withoutText > 0 && this.#count('withoutText', withoutText)];
    this.#find('.document-size').textContent = parts.filter(Boolean).join(' · ');
  }

  #count(name, number) {
    const format = new Intl.NumberFormat(document.documentElement.lang, { notation: 'compact', maximumSignificantDigits: 3 });
    return sentence(this.#words, name, { n: format.format(number) });
  }

  #find(selector) {
    return this.element.querySelector(selector);
  }
}
