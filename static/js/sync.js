import { keep } from './place.js';
import { copy } from './transcript.js';

const EVERY = 1_500; // milliseconds between two requests while the page is used
const IDLE_AFTER = 180_000; // milliseconds without input, after which requests become ever rarer
const SELDOM = 15_000; // milliseconds at most between two requests of an idle page
const USED = ['pointermove', 'pointerdown', 'keydown', 'scroll', 'focus'];

/**
 * Adds to the page what was done with this conversation in another tab or on another device.
 *
 * A visible page asks for the version of its conversation, which costs the server one query and no body as
 * long as nothing has changed. Tabs of one browser notify each other at once.
 */
export class Sync {
  #chat;
  #version;
  #anchor; // the newest message up to which the page is known to match the server
  #used = Date.now();
  #timer = 0;
  #failures = 0;
  #looking = null;
  #again = false;
  #signedOut = false;
  #tabs = null;

  /** @param {object} chat  chat.js's controller */
  constructor(chat) {
    this.#chat = chat;
    this.#version = chat.thread.dataset.version ?? '';
    this.#anchor = this.#shown[0];
    for (const type of USED) addEventListener(type, () => this.#use(), { passive: true, capture: true });
    addEventListener('pagehide', () => this.#leave());
    addEventListener('pageshow', () => this.#come());
    addEventListener('online', () => this.look());
    document.addEventListener('visibilitychange', () => this.look());
    document.getElementById('model')?.addEventListener('change', () => this.#markFor(chat.composer.model));
    this.#come();
  }

  /** Notify the other tabs of a turn made on this page. */
  tell() {
    this.#tabs?.postMessage(this.#chat.page.conversation);
    return this.look();
  }

  #come() {
    this.#tabs ??= new BroadcastChannel('chat');
    this.#tabs.onmessage = ({ data }) => data === this.#chat.page.conversation && this.look();
    this.look();
  }

  /** Close the channel, because a page with an open one is kept out of the back/forward cache. */
  #leave() {
    keep(this.#chat);
    this.#tabs?.close();
    this.#tabs = null;
  }

  /** Ask the server now. @returns {Promise<void>} settled when the page shows the server's state */
  look() {
    clearTimeout(this.#timer);
    if (this.#looking) {
      this.#again = true;
      return this.#looking;
    }
    if (!this.#chat.page.conversation || document.hidden || !navigator.onLine) return Promise.resolve();
    this.#looking = this.#ask().finally(() => this.#wait());
    return this.#looking;
  }

  /** Note an input. After an idle time the page is updated at once. */
  #use() {
    const idle = Date.now() - this.#used;
    this.#used = Date.now();
    if (idle > IDLE_AFTER) this.look();
  }

  #wait() {
    this.#looking = null;
    const again = this.#again;
    this.#again = false;
    if (again) return this.look();
    if (document.hidden || this.#chat.busy || this.#signedOut) return undefined;
    const idle = (Date.now() - this.#used) / IDLE_AFTER;
    const delay = Math.min(SELDOM, EVERY * Math.max(1, idle, 2 ** this.#failures));
    this.#timer = setTimeout(() => this.look(), delay);
    return undefined;
  }

  async #ask() {
    const { page } = this.#chat;
    const headers = { Accept: 'application/json' };
    if (this.#version) headers['If-None-Match'] = `"${this.#version}"`;
    const options = { headers, cache: 'no-store', credentials: 'same-origin' };
    const response = await fetch(page.url('state', page.conversation), options).catch(() => null);
    this.#signedOut = response?.status === 401;
    if (response?.status === 404) return this.#gone();
    if (!(await this.#hear(response))) return void this.#failures++;
    this.#failures = 0;
    this.#chat.retract('deleted', 'unreachable', 'elsewhere');
    if (!this.#chat.busy) this.#chat.retract('busy', 'busy-kept');
    return undefined;
  }

  /** @returns {Promise<boolean>} true if the page shows the server's state, or gets it from a stream */
  async #hear(response) {
    if (response?.status === 304) return true;
    if (!response?.ok || response.redirected) return false;
    const state = await response.json().catch(() => null);
    return state !== null && this.#take(state);
  }

  /** Say that the conversation was deleted. The link leads to a page that offers to undo that. */
  #gone() {
    const { page, busy } = this.#chat;
    this.#failures++;
    const link = this.#chat.link('new-chat', `${page.url('home')}?deleted=${page.conversation}`);
    if (!busy) this.#chat.say('deleted', link);
  }

  async #take(state) {
    const chat = this.#chat;
    if (state.title !== document.title) chat.entitle(state.title);
    const since = this.#missing(state);
    if (!chat.busy && since !== null) {
      const { renew } = await import('./merge.js');
      const version = await renew(chat, since);
      if (version === null) chat.say('elsewhere', chat.link('show-all', location.href));
      if (!version) return chat.busy;
      this.#version = version;
      chat.changed();
    } else if (!chat.busy) this.#version = state.version;
    if (!chat.busy || since === null) [this.#anchor] = this.#shown;
    this.#mark(state);
    return true;
  }

  /** The ids of the messages on the page, the last one first; '' for a message without an id. */
  get #shown() {
    return Array.from(this.#chat.thread.querySelectorAll('.message'), ({ dataset }) => dataset.message ?? '').reverse();
  }

  /**
   * @returns {string|null} the message from which on the page may be out of date; null: it is up to date
   */
  #missing({ trail, run, status }) {
    const shown = this.#shown;
    const [at, from, length] = common(shown, trail);
    if (at < 0) return shown[0] ?? '';
    if (from + length < trail.length) return shown[at + length] ?? shown[at];
    if (at || from) return shown[at];
    // After a turn made on this page, messages may be missing before the last three, which the trail lists.
    if (shown.indexOf(this.#anchor) >= trail.length) return this.#anchor;
    const { dataset } = document.getElementById(`m-${shown[0]}`);
    const same = dataset.run === (run ?? '') && dataset.status === (status || 'complete');
    return same ? null : shown[0];
  }

  /** Show the line above which the model no longer reads. */
  #mark({ model, context_start: start }) {
    const chosen = this.#chat.composer.model;
    if (chosen && model && chosen !== model) this.#markFor(chosen);
    else this.#show(start);
  }

  async #markFor(model) {
    const { page } = this.#chat;
    if (!page.conversation) return;
    const url = `${page.url('context', page.conversation)}?model=${encodeURIComponent(model)}`;
    const response = await fetch(url, { headers: { Accept: 'application/json' } }).catch(() => null);
    if (!response?.ok || response.redirected || model !== this.#chat.composer.model) return;
    this.#show((await response.json()).context_start);
  }

  #show(start) {
    mark(this.#chat.thread, start);
    this.#chat.hold();
  }
}

/**
 * Compare two lists of ids from their first common one to the first difference. Return its index in each list
 * (-1: there is none), and the number of common ids.
 */
function common(shown, trail) {
  const at = shown.findIndex((id) => trail.includes(id));
  const from = trail.indexOf(shown[at]);
  const apart = trail.slice(from).findIndex((id, n) => shown[at + n] !== id);
  return [at, from, apart < 0 ? trail.length - from : apart];
}

/** @param {string|null} start  the oldest message that is sent to the model; `next`: none of those shown */
function mark(thread, start) {
  const known = thread.querySelector('.context-start');
  const first = start === 'next' ? null : document.getElementById(`m-${start}`);
  const above = start === 'next' || (first && thread.querySelector('.older, .message') !== first);
  if (!above) return known?.remove();
  const line = known ?? copy('context-template');
  if (first) {
    if (first.previousElementSibling !== line) first.before(line);
  } else if (thread.lastElementChild !== line) thread.append(line);
  return undefined;
}
