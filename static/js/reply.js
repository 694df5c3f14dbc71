import { addCodeActions, announce, page, parseTrustedHtml, setHidden } from './page.js';

const MIN_SECONDS = 0.05; // shorter times would be shown as 0.0
const LIVE_STATUSES = new Set(['queued', 'running', 'waiting']);
const TEXT_NODE = 3;

/** The article of one reply, new or from the server's page. Text that arrives is written once per frame. */
export class Reply {
  #parts;
  #pending = { patches: [], reasoning: '' };
  #discarded = false; // the server has discarded the text that is shown
  #frame = 0;
  #thinking = false;
  #thinkingSince; // undefined for a page that has joined later, which cannot know
  #clock = 0;
  #onChange;

  /** @param {() => void} onChange  called after each change of the page */
  constructor(article, onChange) {
    this.article = article;
    this.#onChange = onChange;
    this.#parts = { text: partOf(article, 'text'), reasoning: partOf(article, 'reasoning') };
    this.status = article.dataset.status;
  }

  get live() {
    return LIVE_STATUSES.has(this.article.dataset.status);
  }

  get model() {
    return partOf(this.article, 'model').textContent;
  }

  set model(name) {
    if (!name) return; // the server's page has it
    partOf(this.article, 'model').textContent = name;
    this.article.querySelector('h2').textContent = page.text('reply-heading', { model: name });
    const replies = Array.from(document.querySelectorAll('.reply'));
    const before = replies[replies.indexOf(this.article) - 1];
    this.article.classList.toggle('named', Boolean(before) && partOf(before, 'model').textContent !== name);
  }

  /** @returns {string} how the reply ended, if it did not end well */
  get state() {
    return partOf(this.article, 'status-text').textContent;
  }

  /** Mark the reply as about to be continued. @returns {string} its status before */
  markQueued() {
    const { status } = this.article.dataset;
    this.status = 'queued';
    return status;
  }

  set status(status) {
    this.article.dataset.status = status;
    this.article.ariaBusy = String(this.live && status !== 'waiting');
  }

  append({ response, reasoning = '', html = [] }) {
    this.status = 'running';
    if (response) this.#stopThinking();
    else if (reasoning) this.#startThinking();
    this.#pending.patches.push(...html);
    this.#pending.reasoning += reasoning;
    this.#frame ||= requestAnimationFrame(() => this.#flush());
  }

  /** @param {{steps_html: string}} payload  all steps of the reply, as the page shows them: between blocks of its text */
  showSteps({ steps_html: html }) {
    const parts = Array.from(parseTrustedHtml(html).children);
    for (const old of this.article.querySelectorAll('[data-after]')) {
      // A page made before all text was stored shows the last steps too early.
      if (!parts.some((part) => part.dataset.after === old.dataset.after)) old.remove();
    }
    for (const part of parts) this.#placeSteps(part);
    const before = this.article.dataset.status;
    const asking = this.article.querySelector('.steps:has(form) > summary');
    this.status = asking ? 'waiting' : 'running';
    if (asking && before !== 'waiting') announce(asking.textContent);
    this.#onChange();
  }

  #placeSteps(part) {
    const { text } = this.#parts;
    const after = Number(part.dataset.after);
    const old = this.article.querySelector(`[data-after="${after}"]`);
    if (!old) return after ? text.insertBefore(part, blocksOf(text)[after] ?? null) : text.before(part);
    const hadFocus = old.contains(document.activeElement);
    part.querySelector('details').open ||= old.querySelector('details').open;
    old.replaceWith(part);
    return hadFocus && part.querySelector('summary').focus({ preventScroll: true });
  }

  /** Discard the text. It stays visible until the first piece of the new text arrives. */
  reset() {
    this.#pending = { patches: [], reasoning: '' };
    this.#parts.reasoning.replaceChildren();
    this.#discarded = true;
  }

  /** Show a temporary remark below the reply; '' removes it. */
  remark(sentence) {
    partOf(this.article, 'remark').textContent = sentence;
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
    partOf(this.article, 'status-text').textContent = message || page.text(`status-${status}`);
    const statistics = this.#statistics(usage?.completion_tokens, seconds, served_by, cached, fallback);
    const meta = partOf(this.article, 'reply-meta');
    meta.replaceChildren(partOf(this.article, 'model'), statistics);
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
    this.article.remove();
  }

  #flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { patches, reasoning } = this.#pending;
    this.#pending = { patches: [], reasoning: '' };
    if (this.#discarded && patches.length) this.#clearDiscarded(patches);
    applyPatches(this.#parts.text, patches);
    appendText(this.#parts.reasoning, reasoning);
    setHidden(partOf(this.article, 'thoughts'), !this.#parts.reasoning.hasChildNodes());
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

  /** Count the seconds from the beginning of the thinking on. */
  #startThinking() {
    if (this.#thinking) return;
    this.#thinking = true;
    if (this.#parts.reasoning.hasChildNodes() || this.#parts.text.hasChildNodes()) return;
    this.#thinkingSince = performance.now();
    const show = () => this.#showThinking('thinking', Math.round(this.#thinkingSeconds), 0);
    this.#clock = setInterval(show, 1_000);
    this.#showThinking('thinking', 0, 0);
  }

  #stopThinking() {
    clearInterval(this.#clock);
    if (this.#thinking) this.#showThinking('thought', this.#thinkingSeconds);
    this.#thinking = false;
    this.#thinkingSince = undefined;
  }

  /** NaN if it is not known when the thinking began. */
  get #thinkingSeconds() {
    return (performance.now() - this.#thinkingSince) / 1_000;
  }

  #showThinking(name, seconds, digits = 1) {
    const isShown = name === 'thinking' || seconds >= MIN_SECONDS; // not for NaN
    const time = isShown ? page.seconds(seconds, digits) : '';
    partOf(this.article, 'thinking').textContent = page.text(time ? name : 'thoughts', { time });
  }

  #statistics(tokens, seconds, model, cached, fallback) {
    const texts = [];
    if (tokens) texts.push(count('tokens', tokens));
    if (seconds) texts.push(page.seconds(seconds));
    if (model) texts.push(page.text('served', { model }));
    if (cached) texts.push(page.text('cached'));
    if (fallback) texts.push(page.text('fallback', { n: fallback }));
    return texts.map((text) => ` · ${text}`).join('');
  }
}

/** Return the plural form of a sentence of the page. */
export function count(name, n) {
  const form = new Intl.PluralRules(document.documentElement.lang || undefined).select(n);
  return page.text(`${name}-${form}`, { n }) || page.text(`${name}-other`, { n });
}

function partOf(article, name) {
  return article.querySelector(`[data-part=${name}]`);
}

/**
 * Update the blocks of a text. Blocks that stay the same are not touched, nor is a selection in them.
 * @param {Element} container  of the blocks, and of steps between them
 * @param {Array<[number, string] | [number, null, string]>} patches  [index, html] replaces that block, ''
 *   removes it and those after it; [index, null, text] extends that block's last text, or its open fence
 */
export function applyPatches(container, patches) {
  for (const [index, html, text] of patches) {
    const blocks = blocksOf(container);
    const block = blocks[index];
    if (html === null) appendText(innermostEnd(block), text);
    else if (html) placeBlock(container, block, parseTrustedHtml(html), index);
    else for (const removed of blocks.slice(index)) removed.remove();
  }
}

/** Return the blocks of a text, without the steps that stand between them. */
function blocksOf(text) {
  return Array.from(text.children).filter((child) => !child.hasAttribute('data-after'));
}

/** Return the node in which a block's text ends: its code, or the innermost element at its end. */
function innermostEnd(block) {
  if (block.matches('figure')) return block.querySelector('code');
  let end = block;
  while (end.lastChild === end.lastElementChild && end.lastChild) end = end.lastChild;
  return end;
}

function placeBlock(container, old, fresh, index) {
  addCodeActions(fresh);
  const block = fresh.firstElementChild;
  if (!old) return container.insertBefore(block, Array.from(container.children).find((child) => child.getAttribute('data-after') > index) ?? null);
  if (old.open) block.open = true; // a reader has unfolded it
  if (!old.isEqualNode(block)) {
    const { activeElement: focused } = document;
    const at = Array.from(old.querySelectorAll(focused.localName)).indexOf(focused);
    old.replaceWith(block);
    block.querySelectorAll(focused.localName)[at]?.focus({ preventScroll: true });
  }
}

/** Append to the one text node, which keeps a selection and avoids parsing the existing text again. */
function appendText(node, text) {
  if (!text) return;
  if (node.lastChild?.nodeType === TEXT_NODE) node.lastChild.appendData(text);
  else node.append(text);
}
