const ANY_ID = '00000000-0000-0000-0000-000000000000'; // in place of an id in the page's addresses
const LIVE = new Set(['queued', 'running']);
const AT_END = 120; // pixels from the end that still count as being there: what comes at once while text flows
const FAR = 200; // pixels from the end at which the way back is offered
const SWIPE = 10; // pixels that a finger may tremble
const UPWARDS = new Set(['PageUp', 'Home', 'ArrowUp']);
const TEXT_NODE = 3;
const TOKENS = '[name=csrfmiddlewaretoken]';

const policy = globalThis.trustedTypes?.createPolicy('server-html', { createHTML: (html) => html });

/**
 * The one place where a string becomes nodes.
 * @param {string} html  from our server, which sanitised it
 * @returns {DocumentFragment}
 */
export function nodesOf(html) {
  const template = document.createElement('template');
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content;
}

/** What the server put into the page for its client: sentences (`data-msg-*`), addresses (`data-url-*`), the token. */
export class Page {
  #main;
  #language = document.documentElement.lang || undefined;

  constructor(main) {
    this.#main = main;
  }

  get conversation() {
    return this.#main.dataset.conversation;
  }

  set conversation(id) {
    this.#main.dataset.conversation = id;
  }

  get user() {
    return this.#main.dataset.user;
  }

  /** @returns {string} a sentence with its {names} filled in, '' for one the page does not have */
  say(name, values = {}) {
    const sentence = this.#main.getAttribute(`data-msg-${name}`) ?? '';
    return sentence.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
  }

  count(name, n) {
    const form = new Intl.PluralRules(this.#language).select(n);
    return this.say(`${name}-${form}`, { n }) || this.say(`${name}-other`, { n });
  }

  number(value, digits = 0, useGrouping = false) {
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping };
    return value.toLocaleString(this.#language, options);
  }

  seconds(value, digits = 1) {
    return this.say('seconds', { n: this.number(value, digits) });
  }

  url(name, id = '') {
    return this.#main.getAttribute(`data-url-${name}`).replace(ANY_ID, id);
  }

  modelName(id) {
    const options = Array.from(document.getElementById('model')?.options ?? []);
    return options.find((option) => option.value === id)?.text ?? this.#main.dataset.modelName;
  }

  get token() {
    return document.querySelector(TOKENS).value;
  }

  /** After a new sign-in every form of the page sends the new token, those in templates too. */
  set token(value) {
    const roots = [document, ...Array.from(document.querySelectorAll('template'), ({ content }) => content)];
    for (const root of roots) for (const input of root.querySelectorAll(TOKENS)) input.value = value;
  }

  /** @returns {Promise<Response>} rejected as `fetch` is, when nobody answers */
  post(url, body = {}, more = {}) {
    const type = { 'Content-Type': 'application/json', Accept: 'application/json' };
    const headers = { ...type, 'X-CSRFToken': this.token };
    const options = { method: 'POST', headers, body: JSON.stringify(body), credentials: 'same-origin', ...more };
    return fetch(url, options);
  }
}

/** Keeps the end of the page in view while the reader is there, and only then. */
export class Follower {
  #following = true;
  #top = 0;
  #finger = 0;
  #button;

  constructor(button) {
    this.#button = button;
    addEventListener('scroll', () => this.#scrolled(), { passive: true });
    addEventListener('resize', () => this.follow());
    addEventListener('wheel', (event) => this.#wheeled(event), { passive: true });
    addEventListener('touchstart', (event) => (this.#finger = event.touches[0].clientY), { passive: true });
    addEventListener('touchmove', (event) => this.#swiped(event), { passive: true });
    addEventListener('keydown', (event) => this.#pressed(event));
    button.addEventListener('click', () => this.jump());
  }

  get following() {
    return this.#following;
  }

  /** The page was opened at one of its messages. */
  release() {
    this.#following = false;
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

  // These come ahead of the scroll event: the next piece of text would undo the first movement.

  #wheeled({ deltaX, deltaY, ctrlKey, target }) {
    if (deltaY < 0 && !ctrlKey && -deltaY > Math.abs(deltaX)) this.#leave(target);
  }

  #swiped({ touches, target }) {
    if (touches[0].clientY > this.#finger + SWIPE) this.#leave(target);
  }

  #pressed({ key, shiftKey, target }) {
    const up = UPWARDS.has(key) || (key === ' ' && shiftKey);
    if (up && !target.matches('input, textarea, select, button')) this.#leave(target);
  }

  /** What can scroll up inside the page goes first. */
  #leave(target) {
    const page = document.documentElement;
    for (let el = target; el && el !== page; el = el.parentElement) if (el.scrollTop > 0) return;
    if (scrollY > 0) this.#following = false;
  }

  #gap() {
    const page = document.documentElement;
    return page.scrollHeight - page.clientHeight - scrollY;
  }

  #offer() {
    const gap = this.#gap();
    if (this.#following || gap < AT_END) hide(this.#button, true);
    else if (gap > FAR) hide(this.#button, false);
  }
}

/** One reply's article, new or from the server's page. What arrives is put there in one go a frame. */
export class Reply {
  #article;
  #page;
  #parts;
  #waiting = { patches: [], reasoning: '' };
  #void = false; // what is shown was discarded by the server
  #frame = 0;
  #thinking = false;
  #clock = null;
  #changed;

  /**
   * @param {HTMLElement} article
   * @param {Page} page
   * @param {() => void} changed  told after each change of the page
   */
  constructor(article, page, changed) {
    this.#article = article;
    this.#page = page;
    this.#changed = changed;
    this.#parts = { text: part(article, 'text'), reasoning: part(article, 'reasoning') };
    this.#article.ariaBusy = String(this.live);
  }

  get article() {
    return this.#article;
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
    this.#article.querySelector('h2').textContent = this.#page.say('said', { model: name });
  }

  /** @returns {string} how it ended, where that was not well */
  get state() {
    return part(this.#article, 'state').textContent;
  }

  /** @param {{message: string, run: string}} meta */
  identify({ message, run }) {
    identify(this.#article, message);
    this.#article.dataset.run = run;
  }

  /** More of it is on its way. @returns {string} the status it had */
  await() {
    const { status } = this.#article.dataset;
    this.status = 'queued';
    return status;
  }

  set status(status) {
    this.#article.dataset.status = status;
    this.#article.ariaBusy = String(this.live);
  }

  append({ response, reasoning = '', html = [] }) {
    this.status = 'running';
    if (response) this.#stopThinking();
    else if (reasoning) this.#startThinking();
    this.#waiting.patches.push(...html);
    this.#waiting.reasoning += reasoning;
    this.#frame ||= requestAnimationFrame(() => this.#write());
  }

  /** What is shown is void, and gives way when the first of the new text arrives. */
  reset() {
    this.#waiting = { patches: [], reasoning: '' };
    this.#parts.reasoning.replaceChildren();
    this.#void = true;
  }

  /** A passing remark under the reply: '' takes it away. */
  remark(sentence) {
    part(this.#article, 'remark').textContent = sentence;
    this.#changed();
  }

  /** @param {{status: string, message?: string, seconds?: number, thinking_seconds?: number, usage?: object, cached?: boolean, fallback?: number, served_by?: string}} done */
  finish({ status, message, seconds, thinking_seconds, usage, cached, fallback, served_by, html = [] }) {
    this.#waiting.patches.push(...html);
    this.#write();
    if (this.#void) this.#parts.text.replaceChildren();
    this.#stopThinking();
    if (thinking_seconds !== undefined) this.#think('thought', thinking_seconds);
    this.status = status;
    part(this.#article, 'state').textContent = message || this.#page.say(`state-${status}`);
    part(this.#article, 'facts').replaceChildren(
      part(this.#article, 'model'),
      ...this.#facts(usage?.completion_tokens, seconds, served_by, cached, fallback),
    );
    this.remark('');
  }

  /** The page cannot follow this reply any more. */
  leave(sentence) {
    this.#write();
    this.#stopThinking();
    this.status = 'left';
    this.remark(sentence);
  }

  remove() {
    cancelAnimationFrame(this.#frame);
    this.#stopThinking();
    this.#article.remove();
  }

  #write() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { patches, reasoning } = this.#waiting;
    this.#waiting = { patches: [], reasoning: '' };
    if (this.#void && patches.length) this.#clear(patches);
    patch(this.#parts.text, patches);
    extend(this.#parts.reasoning, reasoning);
    hide(part(this.#article, 'thoughts'), !this.#parts.reasoning.hasChildNodes());
    this.#changed();
  }

  /** A run that goes on with an older text begins behind that text's blocks, which are as they were. */
  #clear(patches) {
    patch(this.#parts.text, [[Math.min(...patches.map(([index]) => index)), '']]);
    this.#void = false;
  }

  /** Counted only from its beginning: who comes later cannot know since when. */
  #startThinking() {
    if (this.#thinking) return;
    this.#thinking = true;
    const begins = !this.#parts.reasoning.hasChildNodes() && !this.#parts.text.hasChildNodes();
    if (begins) this.#clock = new Clock((seconds) => this.#think('thinking', seconds, 0));
  }

  #stopThinking() {
    if (this.#thinking) this.#think('thought', this.#clock?.stop());
    this.#thinking = false;
    this.#clock = null;
  }

  #think(name, seconds, digits = 1) {
    const time = seconds === undefined ? '' : this.#page.seconds(seconds, digits);
    part(this.#article, 'thinking').textContent = this.#page.say(time ? name : 'thoughts', { time });
  }

  #facts(tokens, seconds, model, cached, fallback) {
    const facts = [];
    if (tokens) facts.push(this.#page.count('tokens', tokens));
    if (seconds) facts.push(this.#page.seconds(seconds));
    if (model) facts.push(this.#page.say('served', { model }));
    if (cached) facts.push(this.#page.say('cached'));
    if (fallback) facts.push(this.#page.say('fallback', { n: fallback }));
    return facts.map((fact) => ` · ${fact}`);
  }
}

/** Tells the seconds, at once and then once a second. */
class Clock {
  #started = performance.now();
  #timer;

  constructor(tell) {
    tell(0);
    this.#timer = setInterval(() => tell(Math.round(this.#seconds)), 1_000);
  }

  get #seconds() {
    return (performance.now() - this.#started) / 1_000;
  }

  /** @returns {number} how long it ran */
  stop() {
    clearInterval(this.#timer);
    return this.#seconds;
  }
}

/** One question and its reply on their way: what is on the page for them, and how to take it back. */
export class Turn {
  accepted = false;
  #was = ''; // the status of a reply that goes on, '' for a new reply

  /**
   * @param {{reply: Reply, goesOn?: boolean, question?: Element, replaced?: Element[], typed?: boolean,
   *   request?: {url: string, body: object}, settle?: (accepted: boolean) => void}} shown
   */
  constructor({ reply, goesOn = false, question = null, replaced = [], typed = false, request, settle }) {
    Object.assign(this, { reply, question, replaced, typed, request, settle });
    if (goesOn) this.#was = reply.await();
    for (const article of replaced) article.hidden = true;
  }

  accept() {
    this.accepted = true;
    for (const article of this.replaced) article.remove();
    this.settle?.(true);
  }

  /** Nobody took the question: what stood here before it comes back. */
  withdraw() {
    this.question?.remove();
    for (const article of this.replaced) article.hidden = false;
    if (this.#was) this.reply.status = this.#was;
    else this.reply.remove();
    this.settle?.(false);
  }
}

/**
 * Brings a text's blocks up to date; those that stay as they are are not touched, nor is a selection in them.
 * @param {Element} container  child i is block i
 * @param {Array<[number, string] | [number, null, string]>} patches  [index, html]: that block is now this,
 *   '' for none from there on; [index, null, text]: that block's last text, or its open fence, goes on so
 */
export function patch(container, patches) {
  for (const [index, html, text] of patches) {
    const block = container.children[index];
    if (html === null) extend(endOf(block), text);
    else if (html) place(container, block, nodesOf(html));
    else while (container.children.length > index) container.lastElementChild.remove();
  }
}

/** Where a block's text ends: its code, or the innermost element at its end. */
function endOf(block) {
  if (block.matches('figure')) return block.querySelector('code');
  let end = block;
  while (end.lastChild === end.lastElementChild && end.lastChild) end = end.lastChild;
  return end;
}

function place(container, old, fresh) {
  furnish(fresh);
  const block = fresh.firstElementChild;
  if (!old) container.append(block);
  else if (!old.isEqualNode(block)) {
    const { activeElement: held } = document;
    const within = old.contains(held);
    old.replaceWith(block);
    if (within) block.querySelector(held.localName)?.focus({ preventScroll: true });
  }
}

/** A copy button in each code block: in what streams, in what was loaded, in what is added above. */
export function furnish(root) {
  for (const figure of root.querySelectorAll('figure.code')) {
    if (!figure.querySelector('.copy')) figure.append(copy('copy-template'));
  }
}

/** A fresh node from one of the page's templates. */
export function copy(template) {
  return document.getElementById(template).content.firstElementChild.cloneNode(true);
}

/** An article that the server has stored now gets the id, the anchor and the addresses of the server's page. */
export function identify(article, message) {
  article.dataset.message = message;
  article.id = `m-${message}`;
  for (const name of ['action', 'formaction', 'href']) {
    for (const node of article.querySelectorAll(`[${name}*="${ANY_ID}"]`)) {
      node.setAttribute(name, node.getAttribute(name).replace(ANY_ID, message));
    }
  }
}

function part(article, name) {
  return article.querySelector(`[data-part=${name}]`);
}

/** An attribute that is set again, even to what it was, has the page's style looked through again. */
function hide(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/** Appending to the one text node keeps a reader's selection, and costs no second parse of what is there. */
function extend(node, text) {
  if (!text) return;
  if (node.lastChild?.nodeType === TEXT_NODE) node.lastChild.appendData(text);
  else node.append(text);
}
