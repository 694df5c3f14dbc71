const ANY_ID = '00000000-0000-0000-0000-000000000000'; // stands for an id in the page's address templates
const LIVE = new Set(['queued', 'running']);
const AT_END = 120; // pixels that still count as the end: as much as can arrive at once while text streams
const FAR = 200; // pixels from the end at which the button to the end appears
const SWIPE = 10; // pixels that a finger may move by trembling
const UPWARDS = new Set(['PageUp', 'Home', 'ArrowUp']);
const TEXT_NODE = 3;
const TOKENS = '[name=csrfmiddlewaretoken]';

const policy = globalThis.trustedTypes?.createPolicy('server-html', { createHTML: (html) => html });

/**
 * Turn HTML into nodes. Nothing else in these scripts does.
 * @param {string} html  from our server, which sanitised it
 * @returns {DocumentFragment}
 */
export function nodesOf(html) {
  const template = document.createElement('template');
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content;
}

/**
 * The data that the server put into the page: sentences (`data-msg-*`),
 * addresses (`data-url-*`), the CSRF token.
 */
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

  /** @returns {string} a sentence with its {names} filled in, '' if the page does not have it */
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

  /** Set the new token in every form of the page after a new sign-in, including those in templates. */
  set token(value) {
    const roots = [document, ...Array.from(document.querySelectorAll('template'), ({ content }) => content)];
    for (const root of roots) for (const input of root.querySelectorAll(TOKENS)) input.value = value;
  }

  /** @returns {Promise<Response>} rejects as `fetch` does, if there is no answer */
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

  /** Do not follow: the page opened at one of its messages. */
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

  /**
   * Stop following when the reader moves up, and follow again at the end. A page that
   * became shorter moves to its end by itself.
   */
  #scrolled() {
    const gap = this.#gap();
    if (scrollY < this.#top - 2 && gap > 2) this.#following = false;
    else if (gap < AT_END && scrollY > this.#top) this.#following = true;
    this.#top = scrollY;
    this.#offer();
  }

  // These events precede the scroll event, until which the next piece of text would undo the movement.

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

  /** Stop following, unless an element inside the page scrolls up first. */
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

/** The article of one reply, new or from the server's page. Text that arrives is written once per frame. */
export class Reply {
  #article;
  #page;
  #parts;
  #waiting = { patches: [], reasoning: '' };
  #void = false; // the server has discarded the text that is shown
  #frame = 0;
  #thinking = false;
  #clock = null;
  #changed;

  /**
   * @param {HTMLElement} article
   * @param {Page} page
   * @param {() => void} changed  called after each change of the page
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

  /** @returns {string} how the reply ended, if it did not end well */
  get state() {
    return part(this.#article, 'state').textContent;
  }

  /** @param {{message: string, run: string}} meta */
  identify({ message, run }) {
    identify(this.#article, message);
    this.#article.dataset.run = run;
  }

  /** Mark the reply as about to go on. @returns {string} its status before */
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

  /** Mark the text as void. It stays until the first piece of the new text arrives. */
  reset() {
    this.#waiting = { patches: [], reasoning: '' };
    this.#parts.reasoning.replaceChildren();
    this.#void = true;
  }

  /** Show a passing remark below the reply; '' removes it. */
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

  /** Stop following this reply, which the page can no longer do. */
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

  /**
   * Remove the void blocks, from the first new one on. A continuation's run begins after the blocks
   * of the older text, which have not changed.
   */
  #clear(patches) {
    patch(this.#parts.text, [[Math.min(...patches.map(([index]) => index)), '']]);
    this.#void = false;
  }

  /**
   * Start the clock, but only at the beginning of the thinking: a
   * viewer that joins later cannot know its start.
   */
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

/** Calls `tell` with the seconds, at once and then once a second. */
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

  /** @returns {number} the seconds that it ran */
  stop() {
    clearInterval(this.#timer);
    return this.#seconds;
  }
}

/** A question and its reply on their way: their elements on the page, and how to undo them. */
export class Turn {
  accepted = false;
  #was = ''; // the earlier status of a reply that is continued, '' for a new reply

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

  /** Restore the page as it was, because the server did not accept the turn. */
  withdraw() {
    this.question?.remove();
    for (const article of this.replaced) article.hidden = false;
    if (this.#was) this.reply.status = this.#was;
    else this.reply.remove();
    this.settle?.(false);
  }
}

/**
 * Update the blocks of a text. Blocks that stay the same are not touched, nor is a selection in them.
 * @param {Element} container  child i is block i
 * @param {Array<[number, string] | [number, null, string]>} patches  [index, html] replaces that block, ''
 *   removes it and those after it; [index, null, text] extends that block's last text, or its open fence
 */
export function patch(container, patches) {
  for (const [index, html, text] of patches) {
    const block = container.children[index];
    if (html === null) extend(endOf(block), text);
    else if (html) place(container, block, nodesOf(html));
    else while (container.children.length > index) container.lastElementChild.remove();
  }
}

/** Return the node in which a block's text ends: its code, or the innermost element at its end. */
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

/** Add a copy button to each code block that lacks it, whether streamed, loaded or inserted above. */
export function furnish(root) {
  for (const figure of root.querySelectorAll('figure.code')) {
    if (!figure.querySelector('.copy')) figure.append(copy('copy-template'));
  }
}

/** Return a new node from one of the page's templates. */
export function copy(template) {
  return document.getElementById(template).content.firstElementChild.cloneNode(true);
}

/** Give a newly stored article the id, the anchor and the addresses that it has on the server's page. */
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

/**
 * Set `hidden` only if it differs: setting an attribute again makes
 * the browser recalculate the page's styles.
 */
function hide(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/** Append to the one text node, which keeps a selection and avoids parsing the existing text again. */
function extend(node, text) {
  if (!text) return;
  if (node.lastChild?.nodeType === TEXT_NODE) node.lastChild.appendData(text);
  else node.append(text);
}
