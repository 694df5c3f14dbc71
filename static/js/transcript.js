const LIVE = new Set(['queued', 'running']);
const AT_END = 64; // pixels from the end that still count as being there
const TITLE_LENGTH = 80; // letters
const FAR = 200; // pixels from the end at which the way back is offered

/** The sentences that this client shows: the page's `data-msg-*` attributes, with their {names} filled in. */
export class Words {
  #page;
  #language = document.documentElement.lang || undefined;

  constructor(page) {
    this.#page = page;
  }

  /** @returns {string} '' for a sentence the page does not have */
  say(name, values = {}) {
    const sentence = this.#page.getAttribute(`data-msg-${name}`) ?? '';
    return sentence.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
  }

  count(name, n) {
    const form = new Intl.PluralRules(this.#language).select(n);
    return this.say(`${name}-${form}`, { n }) || this.say(`${name}-other`, { n });
  }

  number(value, digits) {
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
    return value.toLocaleString(this.#language, options);
  }
}

/** Keeps the end of the page in view while the reader is there, and only then. */
export class Follower {
  #following = true;
  #top = 0;
  #button;

  constructor(button) {
    this.#button = button;
    addEventListener('scroll', () => this.#scrolled(), { passive: true });
    addEventListener('resize', () => this.follow());
    addEventListener('wheel', (event) => this.#wheeled(event), { passive: true });
    button.addEventListener('click', () => this.jump());
  }

  follow() {
    if (this.#following) scrollTo(0, document.documentElement.scrollHeight);
    this.#offer();
  }

  jump() {
    this.#following = true;
    this.follow();
  }

  /** Moving up lets go, arriving at the end takes hold. A page that shrank moved by itself, to its end. */
  #scrolled() {
    const gap = this.#gap();
    if (scrollY < this.#top - 2 && gap > 2) this.#following = false;
    else if (gap < AT_END && scrollY > this.#top) this.#following = true;
    this.#top = scrollY;
    this.#offer();
  }

  /** Ahead of the scroll event: the next piece of text would undo the first turn of the wheel. */
  #wheeled({ deltaY, ctrlKey }) {
    if (deltaY < 0 && !ctrlKey && scrollY > 0) this.#following = false;
  }

  #gap() {
    const page = document.documentElement;
    return page.scrollHeight - page.clientHeight - scrollY;
  }

  #offer() {
    const gap = this.#gap();
    if (this.#following || gap < AT_END) this.#button.hidden = true;
    else if (gap > FAR) this.#button.hidden = false;
  }
}

/** One reply's article, new or from the server's page. Text arrives in text nodes, one change a frame. */
export class Reply {
  #article;
  #words;
  #parts;
  #waiting = { text: '', reasoning: '' };
  #frame = 0;
  #changed;

  /**
   * @param {HTMLElement} article
   * @param {Words} words
   * @param {() => void} changed  told after each change of the page
   */
  constructor(article, words, changed) {
    this.#article = article;
    this.#words = words;
    this.#changed = changed;
    this.#parts = { text: part(article, 'text'), reasoning: part(article, 'reasoning') };
    this.#article.ariaBusy = String(this.live);
  }

  get run() {
    return this.#article.dataset.run;
  }

  get position() {
    return this.#article.dataset.position;
  }

  get live() {
    return LIVE.has(this.#article.dataset.status);
  }

  get model() {
    return part(this.#article, 'model').textContent;
  }

  set model(name) {
    part(this.#article, 'model').textContent = name;
    this.#article.querySelector('h2').textContent = this.#words.say('said', { model: name });
  }

  /** @param {{message: string, run: string}} meta */
  identify({ message, run }) {
    identify(this.#article, message);
    this.#article.dataset.run = run;
  }

  append({ response, reasoning = '' }) {
    this.#article.dataset.status = 'running';
    this.#waiting.text += response;
    this.#waiting.reasoning += reasoning;
    this.#frame ||= requestAnimationFrame(() => this.#write());
  }

  reset() {
    this.#waiting = { text: '', reasoning: '' };
    for (const node of Object.values(this.#parts)) node.replaceChildren();
    this.#changed();
  }

  /** A passing remark under the reply: '' takes it away. */
  remark(sentence) {
    part(this.#article, 'remark').textContent = sentence;
    this.#changed();
  }

  /** @param {{status: string, message?: string, seconds?: number, usage?: object}} done */
  finish({ status, message, seconds, usage }) {
    this.#write();
    this.#article.dataset.status = status;
    this.#article.ariaBusy = 'false';
    this.remark('');
    part(this.#article, 'state').textContent = message || this.#words.say(`state-${status}`);
    part(this.#article, 'facts').append(...this.#facts(usage?.completion_tokens, seconds));
    this.#changed();
  }

  /** The page cannot follow this reply any more. */
  leave(sentence) {
    this.#write();
    this.#article.dataset.status = 'left';
    this.#article.ariaBusy = 'false';
    this.remark(sentence);
  }

  /** @returns {Element|null} the article this one replies to */
  get question() {
    const before = this.#article.previousElementSibling;
    return before?.matches('.question') ? before : null;
  }

  add(form) {
    this.#article.append(form);
    this.#changed();
  }

  remove() {
    cancelAnimationFrame(this.#frame);
    this.#article.remove();
  }

  #write() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    for (const [name, node] of Object.entries(this.#parts)) extend(node, this.#waiting[name]);
    part(this.#article, 'thoughts').hidden = !this.#parts.reasoning.hasChildNodes();
    this.#waiting = { text: '', reasoning: '' };
    this.#changed();
  }

  #facts(tokens, seconds) {
    const facts = [];
    if (tokens) facts.push(this.#words.count('tokens', tokens));
    if (seconds) facts.push(this.#words.say('seconds', { n: this.#words.number(seconds, 1) }));
    return facts.map((fact) => ` · ${fact}`);
  }
}

/** One question and its reply on their way: what is on the page for them, and how to take it back. */
export class Turn {
  accepted = false;

  /** @param {{reply: Reply, question?: Element, replaced?: Element[], typed?: boolean}} shown */
  constructor({ reply, question = null, replaced = [], typed = false }) {
    Object.assign(this, { reply, question, replaced, typed });
    for (const article of replaced) article.hidden = true;
  }

  accept() {
    this.accepted = true;
    for (const article of this.replaced) article.remove();
  }

  withdraw() {
    this.question?.remove();
    this.question = null;
    if (!this.accepted) for (const article of this.replaced) article.hidden = false;
  }
}

/** A fresh node from one of the page's templates. */
export function copy(template) {
  return document.getElementById(template).content.firstElementChild.cloneNode(true);
}

/** An article that the server has stored now gets the id and the anchor that it has in the server's page. */
export function identify(article, message) {
  article.dataset.message = message;
  article.id = `m-${message}`;
}

/** The title that the server gives a conversation too: the question's first line, cut at a word. */
export function titleOf(question) {
  const lines = question.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
  const letters = Array.from(lines.find(Boolean) ?? '');
  if (letters.length <= TITLE_LENGTH) return letters.join('');
  const head = letters.slice(0, TITLE_LENGTH - 1);
  const lastSpace = head.lastIndexOf(' ');
  return `${head.slice(0, lastSpace >= 20 ? lastSpace : undefined).join('')}…`;
}

function part(article, name) {
  return article.querySelector(`[data-part=${name}]`);
}

/** Appending to the one text node keeps a reader's selection, and costs no second parse of what is there. */
function extend(node, text) {
  if (!text) return;
  if (node.lastChild) node.lastChild.appendData(text);
  else node.append(text);
}
