import { sentence } from './attachment_parts.js';

const NO_MODEL = { name: '', sees: true, room: Infinity, parts: 0, price: 0 };
const LEAST_SHOWN = 0.0001; // dollars
const MILLION = 1_000_000;

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

/**
 * @param {HTMLElement} tray
 * @param {object[]} attachments  in it
 * @returns {number} the tokens of all documents in the prompt: those of the messages above, and these
 */
export function promptTokens(tray, attachments) {
  const documents = attachments.filter(({ kind }) => kind === 'document');
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
