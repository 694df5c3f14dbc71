import { peekParts, sentence } from './attachment_parts.js';
import { page } from './page.js';

const NO_MODEL = { name: '', sees: true, room: Infinity, parts: 0, price: 0 };
const LEAST_SHOWN = 0.01; // dollars; what costs less matters to nobody
const LEAST_NAMED = 0.0001; // dollars, where the cost is named all the same
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
    const hasPictures = hasPicture(items);
    hint.hidden = !items.length || !this.hints({ hasPictures, tokens }).length;
    hint.querySelector('span').textContent = this.text(tray, items);
    const button = hint.querySelector('button');
    button.hidden = !document.getElementById('model') || (hasPictures && !this.takes('picture'));
    button.textContent = sentence(this.#words, hasPictures && !this.#model.sees ? 'change' : 'other');
    return hadFocus && hint.hidden;
  }

  /** @returns {string} the hints of a tray, '' for none */
  text(tray, items) {
    return items.length ? this.hints({ hasPictures: hasPicture(items), tokens: promptTokens(tray, items) }).join(' ') : '';
  }

  /**
   * @param {{hasPictures: boolean, tokens: number}} prompt  `tokens`: of all its documents
   * @returns {string[]} what the model cannot do with these attachments, and which one does, said before they are sent
   */
  hints({ hasPictures, tokens }) {
    const { label: model, sees } = this.#model;
    const instead = this.#models[this.#words.dataset.pictures];
    const hints = [];
    if (!sees && hasPictures) hints.push(instead ? sentence(this.#words, 'instead', { instead: instead.label, model }) : sentence(this.#words, 'blind'));
    if (this.#isTooLong(tokens)) hints.push(sentence(this.#words, 'long', { model }));
    return hints;
  }

  /**
   * @param {number} own  tokens of a document
   * @param {number} tokens  of all documents in the prompt
   * @returns {{text: string, title: string}} the tokens of the document and what they cost as input; in the text only
   *   what matters: that it is too long, and a price of more than a cent
   */
  cost(own, tokens) {
    const { name: model, parts, price } = this.#model;
    const isTooLong = this.#isTooLong(tokens);
    const count = sentence(this.#words, 'tokens', { n: compact(own) });
    const amount = ((isTooLong ? Math.min(own, parts) : own) * price) / MILLION;
    if (!amount) return { text: isTooLong ? count : '', title: count };
    const least = amount < LEAST_NAMED ? `< ${dollars(LEAST_NAMED)}` : dollars(amount);
    const cost = isTooLong ? sentence(this.#words, 'upTo', { cost: least }) : least;
    const text = [isTooLong && count, amount > LEAST_SHOWN && cost].filter(Boolean).join(' · ');
    return { text, title: sentence(this.#words, 'cost', { tokens: count, model, cost }) };
  }

  /** @param {'picture'|'document'} kind @returns {boolean} whether the person has a model for such files */
  takes(kind) {
    return kind === 'document' || Boolean(this.#words.dataset.pictures);
  }

  #isTooLong(tokens) {
    return tokens > this.#model.room;
  }

  get #model() {
    const chosen = document.getElementById('model')?.value ?? Object.keys(this.#models)[0];
    return this.#models[chosen] ?? NO_MODEL;
  }
}

function hasPicture(items) {
  return items.some(({ row }) => row.kind === 'picture');
}

function compact(number) {
  return new Intl.NumberFormat(document.documentElement.lang, { notation: 'compact', maximumSignificantDigits: 3 }).format(number);
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
  return new Intl.NumberFormat(document.documentElement.lang, { ...style, minimumFractionDigits, maximumFractionDigits }).format(amount);
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
 * @param {Record<string, {label: string, sees: boolean}>} models  by id: see chat/views/files/attachment_parts.py
 * @param {string} id  of the chosen one
 * @param {boolean} isSaid  the tray says it already of its own pictures, which cannot be sent
 * @returns {string} the name of a model that cannot see; '' if there is nothing to say
 */
export function blindModel(models, id, isSaid) {
  const chosen = models[id];
  return chosen && !chosen.sees && !isSaid ? chosen.label : '';
}
