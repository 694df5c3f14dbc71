export const ANY_ID = '00000000-0000-0000-0000-000000000000'; // the placeholder of an id in the page's URL templates
const AT_END_PX = 120; // still counts as the end: as much as can arrive at once while text streams
const JUMP_BUTTON_PX = 200; // distance from the end at which the button to the end appears
const MIN_SWIPE_PX = 10; // a finger that trembles moves less
const MIN_SECONDS = 0.05; // shorter times would be shown as 0.0
const UP_KEYS = new Set(['PageUp', 'Home', 'ArrowUp']);
const TOKEN_FIELDS = '[name=csrfmiddlewaretoken]';

const policy = globalThis.trustedTypes?.createPolicy('server-html', { createHTML: (html) => html });

/**
 * Turn HTML into nodes. This is the only function that may: see chatsite/response_headers.py.
 * @param {string} html  from our server, which sanitised it
 * @returns {DocumentFragment}
 */
export function parseTrustedHtml(html) {
  const template = document.createElement('template');
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content;
}

/** Add the buttons to each code block that lacks them, whether streamed, loaded or inserted above. */
export function addCodeActions(root) {
  for (const code of root.querySelectorAll('figcaption + pre')) code.before(cloneTemplate('code-actions-template'));
}

/** Return a new node from one of the page's templates. */
export function cloneTemplate(template) {
  return document.getElementById(template).content.firstElementChild.cloneNode(true);
}

/**
 * The data that the server put into the page: sentences (`data-msg-*`), addresses (`data-url-*`), the CSRF token;
 * and the notice above the message box.
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

  /** True for a chat that is deleted when its page is left. */
  get temporary() {
    return this.#main.dataset.temporary !== undefined;
  }

  get user() {
    return this.#main.dataset.user;
  }

  /** @returns {string} a sentence with its {names} filled in, '' if the page does not have it */
  text(name, values = {}) {
    const sentence = this.#main.getAttribute(`data-msg-${name}`) ?? '';
    return sentence.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
  }

  count(name, n) {
    const form = new Intl.PluralRules(this.#language).select(n);
    return this.text(`${name}-${form}`, { n }) || this.text(`${name}-other`, { n });
  }

  number(value, digits = 0, useGrouping = false) {
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping };
    return value.toLocaleString(this.#language, options);
  }

  seconds(value, digits = 1) {
    return this.text('seconds', { n: this.number(value, digits) });
  }

  url(name, id = '') {
    return this.#main.getAttribute(`data-url-${name}`).replace(ANY_ID, id);
  }

  modelName(id) {
    const options = Array.from(document.getElementById('model')?.options ?? []);
    return options.find((option) => option.value === id)?.text ?? this.#main.dataset.modelName;
  }

  get token() {
    return document.querySelector(TOKEN_FIELDS).value;
  }

  /** Set the new token in every form of the page after a new sign-in, including those in templates. */
  set token(value) {
    const roots = [document, ...Array.from(document.querySelectorAll('template'), ({ content }) => content)];
    for (const root of roots) for (const input of root.querySelectorAll(TOKEN_FIELDS)) input.value = value;
  }

  /** @returns {Promise<Response>} rejects as `fetch` does, if there is no answer */
  post(url, body = {}, options = {}) {
    return fetch(url, { ...jsonRequest(this.token, body), ...options });
  }

  link(name, href) {
    const link = document.createElement('a');
    link.href = href;
    link.textContent = this.text(name);
    return link;
  }

  /** Show a sentence of the page above the message box, by its name; '' removes it. */
  showNotice(name, link) {
    this.setNotice(name && this.text(name), link, name);
  }

  /** Remove the sentence above the box if it is one of these, because it no longer holds. */
  clearNotice(...names) {
    if (names.includes(this.notice.dataset.code)) this.showNotice('');
  }

  setNotice(sentence, link, code = '') {
    const { notice } = this;
    // If set again, it would be read out again.
    if (code && notice.dataset.code === code) return;
    notice.dataset.code = code;
    notice.replaceChildren(sentence, ...(link ? [' ', link] : []));
  }

  get notice() {
    return document.getElementById('notice');
  }

  /**
   * Show a banner while there is no network. The person can go on writing,
   * and a sent message waits for the network.
   */
  watchConnection() {
    const banner = document.getElementById('offline');
    const changed = (event) => {
      banner.hidden = navigator.onLine;
      if (event) announce(navigator.onLine ? '' : banner.textContent);
    };
    for (const type of ['online', 'offline']) addEventListener(type, changed);
    changed();
  }
}

/** Announce a text to screen readers. */
export function announce(text) {
  document.getElementById('status').textContent = text;
}

/**
 * Return the options of a `fetch` that posts JSON.
 * @param {string} token  the CSRF token
 * @param {object} body
 * @param {string} [accept]  the media type of the response
 */
export function jsonRequest(token, body, accept = 'application/json') {
  const headers = { 'Content-Type': 'application/json', Accept: accept, 'X-CSRFToken': token };
  return { method: 'POST', headers, body: JSON.stringify(body), credentials: 'same-origin' };
}

/** Keeps the end of the page in view while the reader is there, and only then. */
export class ScrollFollower {
  #following = true;
  #top = 0;
  #touchY = 0;
  #button;

  constructor(button) {
    this.#button = button;
    addEventListener('scroll', () => this.#onScroll());
    addEventListener('resize', () => this.follow());
    addEventListener('wheel', (event) => this.#onWheel(event), { passive: true });
    addEventListener('touchstart', (event) => (this.#touchY = event.touches[0].clientY), { passive: true });
    addEventListener('touchmove', (event) => this.#onTouchMove(event), { passive: true });
    addEventListener('keydown', (event) => this.#onKeydown(event));
    button.addEventListener('click', () => this.jump());
  }

  get following() {
    return this.#following;
  }

  /** Stop following: the page was opened at one of its messages. */
  release() {
    this.#following = false;
  }

  follow() {
    if (!document.querySelector('.message')) return; // a new chat begins at its top
    if (this.#following) scrollTo(0, document.documentElement.scrollHeight);
    this.#updateButton();
  }

  jump() {
    this.#following = true;
    this.follow();
  }

  #onScroll() {
    this.#following = followsAfterScroll(this.#following, scrollY - this.#top, this.#distanceFromEnd());
    this.#top = scrollY;
    this.#updateButton();
  }

  // These events precede the scroll event, until which the next piece of text would undo the movement.

  #onWheel({ deltaX, deltaY, ctrlKey, target }) {
    if (deltaY < 0 && !ctrlKey && -deltaY > Math.abs(deltaX)) this.#releaseFor(target);
  }

  #onTouchMove({ touches, target }) {
    if (touches[0].clientY > this.#touchY + MIN_SWIPE_PX) this.#releaseFor(target);
  }

  #onKeydown({ key, shiftKey, target }) {
    const up = UP_KEYS.has(key) || (key === ' ' && shiftKey);
    if (up && !target.matches('input, textarea, select, button')) this.#releaseFor(target);
  }

  /** Stop following, unless an element inside the page scrolls up first. */
  #releaseFor(target) {
    const page = document.documentElement;
    for (let el = target; el && el !== page; el = el.parentElement) if (el.scrollTop > 0) return;
    if (scrollY > 0) this.#following = false;
  }

  #distanceFromEnd() {
    const page = document.documentElement;
    return page.scrollHeight - page.clientHeight - scrollY;
  }

  #updateButton() {
    const distance = this.#distanceFromEnd();
    if (this.#following || distance < AT_END_PX) setHidden(this.#button, true);
    else if (distance > JUMP_BUTTON_PX) setHidden(this.#button, false);
  }
}

/**
 * Return whether to follow after a scroll: no longer once the reader has moved up, again at the end. A page that
 * became shorter moves to its end by itself.
 * @param {boolean} following  before it
 * @param {number} moved  down, in pixels
 * @param {number} distance  from the end, in pixels
 */
export function followsAfterScroll(following, moved, distance) {
  if (moved < -2 && distance > 2) return false;
  return following || (moved > 0 && distance < AT_END_PX);
}

/**
 * Set `hidden` only if it differs: setting an attribute again makes
 * the browser recalculate the page's styles.
 */
export function setHidden(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
}

const LIVE_STATUSES = new Set(['queued', 'running']);
const TEXT_NODE = 3;

/** The article of one reply, new or from the server's page. Text that arrives is written once per frame. */
export class Reply {
  #article;
  #page;
  #parts;
  #pending = { patches: [], reasoning: '' };
  #discarded = false; // the server has discarded the text that is shown
  #frame = 0;
  #thinking = false;
  #stopwatch = null;
  #onChange;

  /**
   * @param {HTMLElement} article
   * @param {Page} page
   * @param {() => void} onChange  called after each change of the page
   */
  constructor(article, page, onChange) {
    this.#article = article;
    this.#page = page;
    this.#onChange = onChange;
    this.#parts = { text: partOf(article, 'text'), reasoning: partOf(article, 'reasoning') };
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
    return LIVE_STATUSES.has(this.#article.dataset.status);
  }

  get model() {
    return partOf(this.#article, 'model').textContent;
  }

  set model(name) {
    partOf(this.#article, 'model').textContent = name;
    this.#article.querySelector('h2').textContent = this.#page.text('reply-heading', { model: name });
  }

  /** @returns {string} how the reply ended, if it did not end well */
  get state() {
    return partOf(this.#article, 'status-text').textContent;
  }

  /** @param {{message: string, run: string, created?: string}} meta */
  setIds({ message, run, created }) {
    setMessage(this.#article, message, created);
    this.#article.dataset.run = run;
  }

  /** Mark the reply as about to be continued. @returns {string} its status before */
  markQueued() {
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
    this.#pending.patches.push(...html);
    this.#pending.reasoning += reasoning;
    this.#frame ||= requestAnimationFrame(() => this.#flush());
  }

  /** Discard the text. It stays visible until the first piece of the new text arrives. */
  reset() {
    this.#pending = { patches: [], reasoning: '' };
    this.#parts.reasoning.replaceChildren();
    this.#discarded = true;
  }

  /** Show a temporary remark below the reply; '' removes it. */
  remark(sentence) {
    partOf(this.#article, 'remark').textContent = sentence;
    this.#onChange();
  }

  /** @param {{status: string, message?: string, seconds?: number, thinking_seconds?: number, usage?: object, cached?: boolean, fallback?: number, served_by?: string}} done */
  finish({ status, message, seconds, thinking_seconds, usage, cached, fallback, served_by, html = [] }) {
    this.#pending.patches.push(...html);
    this.#flush();
    if (this.#discarded) this.#parts.text.replaceChildren();
    this.#stopThinking();
    if (thinking_seconds !== undefined) this.#showThinking('thought', thinking_seconds);
    this.status = status;
    partOf(this.#article, 'status-text').textContent = message || this.#page.text(`status-${status}`);
    const statistics = this.#statistics(usage?.completion_tokens, seconds, served_by, cached, fallback);
    const meta = partOf(this.#article, 'reply-meta');
    meta.replaceChildren(partOf(this.#article, 'model'), statistics);
    meta.inert = !statistics;
    this.remark('');
  }

  /** Stop following this reply, which the page can no longer do. */
  abandon(sentence) {
    this.#flush();
    this.#stopThinking();
    this.status = 'left';
    this.remark(sentence);
  }

  remove() {
    cancelAnimationFrame(this.#frame);
    this.#stopThinking();
    this.#article.remove();
  }

  #flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { patches, reasoning } = this.#pending;
    this.#pending = { patches: [], reasoning: '' };
    if (this.#discarded && patches.length) this.#clearDiscarded(patches);
    applyPatches(this.#parts.text, patches);
    appendText(this.#parts.reasoning, reasoning);
    setHidden(partOf(this.#article, 'thoughts'), !this.#parts.reasoning.hasChildNodes());
    this.#onChange();
  }

  /**
   * Remove the discarded blocks, from the first new one on. A continuation's run begins after the blocks
   * of the older text, which have not changed.
   */
  #clearDiscarded(patches) {
    applyPatches(this.#parts.text, [[Math.min(...patches.map(([index]) => index)), '']]);
    this.#discarded = false;
  }

  /**
   * Start the stopwatch, but only at the beginning of the thinking: a page that joins later cannot know
   * when it began.
   */
  #startThinking() {
    if (this.#thinking) return;
    this.#thinking = true;
    const isStart = !this.#parts.reasoning.hasChildNodes() && !this.#parts.text.hasChildNodes();
    if (isStart) this.#stopwatch = new Stopwatch((seconds) => this.#showThinking('thinking', seconds, 0));
  }

  #stopThinking() {
    if (this.#thinking) this.#showThinking('thought', this.#stopwatch?.stop());
    this.#thinking = false;
    this.#stopwatch = null;
  }

  #showThinking(name, seconds, digits = 1) {
    const isShown = name === 'thinking' || seconds >= MIN_SECONDS; // not for undefined
    const time = isShown ? this.#page.seconds(seconds, digits) : '';
    partOf(this.#article, 'thinking').textContent = this.#page.text(time ? name : 'thoughts', { time });
  }

  #statistics(tokens, seconds, model, cached, fallback) {
    const texts = [];
    if (tokens) texts.push(this.#page.count('tokens', tokens));
    if (seconds) texts.push(this.#page.seconds(seconds));
    if (model) texts.push(this.#page.text('served', { model }));
    if (cached) texts.push(this.#page.text('cached'));
    if (fallback) texts.push(this.#page.text('fallback', { n: fallback }));
    return texts.map((text) => ` · ${text}`).join('');
  }
}

/** Calls `onSecond` with the seconds, at once and then once a second. */
class Stopwatch {
  #started = performance.now();
  #timer;

  constructor(onSecond) {
    onSecond(0);
    this.#timer = setInterval(() => onSecond(Math.round(this.#seconds)), 1_000);
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

/** A question and its reply that are in progress: their elements on the page, and how to undo them. */
export class Turn {
  accepted = false;
  #statusBefore = ''; // the earlier status of a reply that is continued, '' for a new reply

  /**
   * @param {{reply: Reply, continues?: boolean, question?: Element, replaced?: Element[], typed?: boolean,
   *   request?: {url: string, body: object}, onDecided?: (accepted: boolean) => void}} shown
   */
  constructor({ reply, continues = false, question = null, replaced = [], typed = false, request, onDecided }) {
    Object.assign(this, { reply, question, replaced, typed, request, onDecided });
    if (continues) this.#statusBefore = reply.markQueued();
    for (const article of replaced) article.hidden = true;
  }

  accept() {
    this.accepted = true;
    for (const article of this.replaced) article.remove();
    this.onDecided?.(true);
  }

  /** Restore the page as it was, because the server did not accept the turn. */
  withdraw() {
    this.question?.remove();
    for (const article of this.replaced) article.hidden = false;
    if (this.#statusBefore) this.reply.status = this.#statusBefore;
    else this.reply.remove();
    this.onDecided?.(false);
  }
}

/** Return whether a question is folded. chat/views/conversations/thread.py does the same: a line counts as 50 characters more. */
export function isLongQuestion(text) {
  return text.length + 50 * text.split('\n').length > 2_500;
}

/**
 * Update the blocks of a text. Blocks that stay the same are not touched, nor is a selection in them.
 * @param {Element} container  child i is block i
 * @param {Array<[number, string] | [number, null, string]>} patches  [index, html] replaces that block, ''
 *   removes it and those after it; [index, null, text] extends that block's last text, or its open fence
 */
export function applyPatches(container, patches) {
  for (const [index, html, text] of patches) {
    const block = container.children[index];
    if (html === null) appendText(innermostEnd(block), text);
    else if (html) placeBlock(container, block, parseTrustedHtml(html));
    else while (container.children.length > index) container.lastElementChild.remove();
  }
}

/** Return the node in which a block's text ends: its code, or the innermost element at its end. */
function innermostEnd(block) {
  if (block.matches('figure')) return block.querySelector('code');
  let end = block;
  while (end.lastChild === end.lastElementChild && end.lastChild) end = end.lastChild;
  return end;
}

function placeBlock(container, old, fresh) {
  addCodeActions(fresh);
  const block = fresh.firstElementChild;
  if (!old) return container.append(block);
  if (old.open) block.open = true; // a reader has unfolded it
  if (!old.isEqualNode(block)) {
    const { activeElement: focused } = document;
    const at = Array.from(old.querySelectorAll(focused.localName)).indexOf(focused);
    old.replaceWith(block);
    block.querySelectorAll(focused.localName)[at]?.focus({ preventScroll: true });
  }
}

/** Give a newly stored article the id, the time, the anchor and the addresses that it has on the server's page. */
export function setMessage(article, message, created = '') {
  article.dataset.message = message;
  article.id = `m-${message}`;
  article.querySelector('.at').dateTime ||= created;
  for (const name of ['action', 'formaction', 'href']) {
    for (const node of article.querySelectorAll(`[${name}*="${ANY_ID}"]`)) {
      node.setAttribute(name, node.getAttribute(name).replace(ANY_ID, message));
    }
  }
}

function partOf(article, name) {
  return article.querySelector(`[data-part=${name}]`);
}

/** Append to the one text node, which keeps a selection and avoids parsing the existing text again. */
function appendText(node, text) {
  if (!text) return;
  if (node.lastChild?.nodeType === TEXT_NODE) node.lastChild.appendData(text);
  else node.append(text);
}
