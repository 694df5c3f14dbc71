import { appendText, applyPatches } from './blocks.js';
import { page, setHidden } from './page.js';

const MIN_SECONDS = 0.05; // shorter times would be shown as 0.0
const LIVE_STATUSES = new Set(['queued', 'running']);

/** The article of one reply, new or from the server's page. Text that arrives is written once per frame. */
export class Reply {
  #article;
  #parts;
  #pending = { patches: [], reasoning: '' };
  #discarded = false; // the server has discarded the text that is shown
  #frame = 0;
  #thinking = false;
  #stopClock = null;
  #onChange;

  /** @param {() => void} onChange  called after each change of the page */
  constructor(article, onChange) {
    this.#article = article;
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

  set run(run) {
    this.#article.dataset.run = run;
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
    this.#article.querySelector('h2').textContent = page.text('reply-heading', { model: name });
  }

  /** @returns {string} how the reply ended, if it did not end well */
  get state() {
    return partOf(this.#article, 'status-text').textContent;
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
    partOf(this.#article, 'status-text').textContent = message || page.text(`status-${status}`);
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
    if (isStart) this.#stopClock = startStopwatch((seconds) => this.#showThinking('thinking', seconds, 0));
  }

  #stopThinking() {
    if (this.#thinking) this.#showThinking('thought', this.#stopClock?.());
    this.#thinking = false;
    this.#stopClock = null;
  }

  #showThinking(name, seconds, digits = 1) {
    const isShown = name === 'thinking' || seconds >= MIN_SECONDS; // not for undefined
    const time = isShown ? page.seconds(seconds, digits) : '';
    partOf(this.#article, 'thinking').textContent = page.text(time ? name : 'thoughts', { time });
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

/**
 * Call `onSecond` with the seconds, at once and then once a second.
 * @returns {() => number} ends that, and returns the seconds that it ran
 */
function startStopwatch(onSecond) {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1_000;
  onSecond(0);
  const timer = setInterval(() => onSecond(Math.round(seconds())), 1_000);
  return () => {
    clearInterval(timer);
    return seconds();
  };
}

/** Return the plural form of a sentence of the page. */
export function count(name, n) {
  const form = new Intl.PluralRules(document.documentElement.lang || undefined).select(n);
  return page.text(`${name}-${form}`, { n }) || page.text(`${name}-other`, { n });
}

function partOf(article, name) {
  return article.querySelector(`[data-part=${name}]`);
}
