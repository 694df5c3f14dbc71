import { peekParts, sentence } from './attachment_parts.js';
import { page } from './page.js';

const NO_MODEL = { name: '', sees: true, room: Infinity, parts: 0, price: 0 };
const LEAST_SHOWN = 0.0001; // dollars
const MILLION = 1_000_000;
const BLIND_ABOVE = 'blind-above'; // of the notice, which goes when a model that sees is chosen

/** The limits of the chosen model for the attachments in a tray, and their cost. */
export class TrayLimits {
  #words;
  #models; // by id: see chat/views/files/attachment_parts.py

  /** @param {HTMLElement} words  see attachment_parts.js */
  constructor(words) {
    this.#words = words;
    this.#models = JSON.parse(words.dataset.models);
  }

  /**
   * Show the hints and the costs of a tray.
   * @param {{row: AttachmentRow, attachment?: object}[]} items  see attachment_tray.js
   * @returns {boolean} whether an element of the hints that had the focus is hidden now
   */
  show(tray, items) {
    const tokens = promptTokens(tray, items);
    for (const { row, attachment } of items) {
      if (attachment?.kind === 'document') row.showCost(this.cost(attachment.tokens, tokens));
    }
    const hint = tray.querySelector('.tray-hint');
    const hadFocus = hint.contains(document.activeElement);
    const text = this.text(tray, items);
    hint.hidden = !text;
    hint.querySelector('span').textContent = text;
    hint.querySelector('button').hidden = !document.getElementById('model');
    return hadFocus && hint.hidden;
  }

  /** @returns {string} the hints of a tray, '' for none */
  text(tray, items) {
    const hasPictures = items.some(({ row }) => row.kind === 'picture');
    return items.length ? this.hints({ hasPictures, tokens: promptTokens(tray, items) }).join(' ') : '';
  }

  /**
   * @param {{hasPictures: boolean, tokens: number}} prompt  `tokens`: of all its documents
   * @returns {string[]} what the model cannot do with these attachments, said before they are sent
   */
  hints({ hasPictures, tokens }) {
    const { name: model, sees } = this.#model;
    const hints = [];
    if (!sees && hasPictures) hints.push(sentence(this.#words, 'blind', { model }));
    if (this.#isTooLong(tokens)) hints.push(sentence(this.#words, 'long', { model }));
    return hints;
  }

  /**
   * @param {number} own  tokens of a document
   * @param {number} tokens  of all documents in the prompt
   * @returns {{text: string, title: string}} what the document costs as input; empty without a price
   */
  cost(own, tokens) {
    const { name: model, parts, price } = this.#model;
    if (!price || !own) return { text: '', title: '' };
    const isTooLong = this.#isTooLong(tokens);
    const title = sentence(this.#words, 'cost', { model });
    const amount = ((isTooLong ? Math.min(own, parts) : own) * price) / MILLION;
    if (amount < LEAST_SHOWN) return { text: `< ${dollars(LEAST_SHOWN)}`, title };
    const cost = dollars(amount);
    return { text: isTooLong ? sentence(this.#words, 'upTo', { cost }) : cost, title };
  }

  #isTooLong(tokens) {
    return tokens > this.#model.room;
  }

  get #model() {
    const chosen = document.getElementById('model')?.value ?? Object.keys(this.#models)[0];
    return this.#models[chosen] ?? NO_MODEL;
  }
}

/** @returns {number} the tokens of all documents in the prompt: those of the messages above, and the tray's */
function promptTokens(tray, items) {
  const documents = items.flatMap(({ attachment }) => (attachment?.kind === 'document' ? attachment : []));
  const byId = new Map([...shownAbove(tray), ...documents].map(({ id, tokens }) => [id, Number(tokens)]));
  return Array.from(byId.values()).reduce((sum, tokens) => sum + tokens, 0);
}

/** The messages from an edited question on are replaced. */
function shownAbove(tray) {
  const edited = tray.closest('article');
  const links = Array.from(document.querySelectorAll(':is(.documents, .assistant-documents) a[data-tokens]'));
  const isAbove = (link) => link.compareDocumentPosition(edited) & Node.DOCUMENT_POSITION_FOLLOWING;
  return links.filter((link) => !edited || isAbove(link)).map((link) => link.dataset);
}

/** @returns {string} with two decimals; below one dollar with up to four, as in chat/formats.py */
function dollars(amount) {
  const [minimumFractionDigits, maximumFractionDigits] = [2, amount >= 1 ? 2 : 4];
  const style = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' };
  const format = new Intl.NumberFormat(document.documentElement.lang, { ...style, minimumFractionDigits, maximumFractionDigits });
  return format.format(amount);
}

/**
 * Say above the message box that the chosen model gets no picture of the messages above. The server replaces each
 * by a line with its description, or its name.
 */
export async function explain(model) {
  const words = await peekParts();
  page.clearNotice(BLIND_ABOVE);
  const name = blindModel(JSON.parse(words.dataset.models), model, document.querySelector('#composer .tray .picture') !== null);
  if (name) page.setNotice(sentence(words, 'blindAbove', { model: name }), '', BLIND_ABOVE);
}

/**
 * @param {Record<string, {name: string, sees: boolean}>} models  by id: see chat/views/files/attachment_parts.py
 * @param {string} id  of the chosen one
 * @param {boolean} isSaid  the tray says it already of its own pictures, which cannot be sent
 * @returns {string} the name of a model that cannot see; '' if there is nothing to say
 */
export function blindModel(models, id, isSaid) {
  const chosen = models[id];
  return chosen && !chosen.sees && !isSaid ? chosen.name : '';
}
