import { fetchJson, logIn } from './api.js';
import { updateTimes } from './message_times.js';
import { savePosition } from './older_messages.js';
import { cloneTemplate, page } from './page.js';
import { hearTabs, tellTabs } from './tabs.js';

const POLL_MS = 1_500; // interval of requests while the page is used
const IDLE_AFTER_MS = 180_000; // without input; then requests become less frequent
const MAX_POLL_MS = 15_000; // maximum interval of an idle page
const INPUT_EVENTS = ['pointermove', 'pointerdown', 'keydown', 'scroll', 'focus'];

/**
 * Adds turns to the page that were made in another tab or on another device.
 *
 * A visible page asks for the version of its conversation, which costs the server one query and no body as
 * long as nothing has changed. Tabs of one browser notify each other at once.
 */
export class Sync {
  #chat;
  #version;
  #anchor; // the newest message up to which the page is known to match the server
  #lastInput = Date.now();
  #timer = 0;
  #failures = 0;
  #polling = null;
  #pollAgain = false;

  constructor(chat) {
    this.#chat = chat;
    this.#version = chat.thread.dataset.version ?? '';
    this.#anchor = this.#shownIds[0];
    for (const type of INPUT_EVENTS) addEventListener(type, () => this.#onInput(), { passive: true, capture: true });
    addEventListener('pagehide', () => savePosition(chat));
    addEventListener('pageshow', () => this.poll());
    addEventListener('online', () => this.poll());
    document.addEventListener('messageschange', () => this.updateTimes());
    document.addEventListener('visibilitychange', () => this.poll());
    document.getElementById('model')?.addEventListener('change', () => this.#fetchContextStart(chat.composer.model));
    this.updateTimes();
    hearTabs((conversation) => this.#onMessage(conversation));
    this.poll();
  }

  updateTimes() {
    updateTimes(this.#chat.thread);
  }

  /** Notify the other tabs of a turn made on this page. */
  notifyTabs() {
    this.updateTimes();
    tellTabs(page.conversation);
    return this.poll();
  }

  /** @param {string} conversation  the one with a new turn; '': only the list was changed */
  #onMessage(conversation) {
    if (!conversation || conversation === page.conversation) this.poll();
    this.#chat.refreshSidebar((sidebar) => sidebar.refreshSoon());
  }

  /** Ask the server now. @returns {Promise<void>} settled when the page shows the server's state */
  poll() {
    clearTimeout(this.#timer);
    if (this.#polling) {
      this.#pollAgain = true;
      return this.#polling;
    }
    if (!page.conversation || document.hidden || !navigator.onLine) return Promise.resolve();
    this.#polling = this.#fetchState().finally(() => this.#schedulePoll());
    return this.#polling;
  }

  /** Note an input. After an idle time the page is updated at once. */
  #onInput() {
    const idle = Date.now() - this.#lastInput;
    this.#lastInput = Date.now();
    if (idle > IDLE_AFTER_MS) this.poll();
  }

  #schedulePoll() {
    this.#polling = null;
    const pollAgain = this.#pollAgain;
    this.#pollAgain = false;
    if (pollAgain) return this.poll();
    if (!document.hidden && !this.#chat.busy) this.#timer = setTimeout(() => this.poll(), pollDelay(Date.now() - this.#lastInput, this.#failures));
    return undefined;
  }

  async #fetchState() {
    const headers = { Accept: 'application/json' };
    if (this.#version) headers['If-None-Match'] = `"${this.#version}"`;
    const options = { headers, cache: 'no-store' };
    const response = await fetch(page.url('state', page.conversation), options).catch(() => null);
    if (response?.status === 401) return logIn();
    if (response?.status === 404) return this.#onDeleted();
    if (!(await this.#applyResponse(response))) return void this.#failures++;
    this.#failures = 0;
    page.clearNotice('deleted', 'unreachable', 'elsewhere');
    if (!this.#chat.busy) page.clearNotice('busy', 'busy-kept');
    return undefined;
  }

  /** @returns {Promise<boolean>} true if the page shows the server's state, or gets it from a stream */
  async #applyResponse(response) {
    if (response?.status === 304) return true;
    if (!response?.ok || response.redirected) return false;
    const state = await response.json().catch(() => null);
    return state !== null && this.#applyState(state);
  }

  /** Show that the conversation was deleted, with a link to a page that offers to undo it. */
  #onDeleted() {
    const { busy } = this.#chat;
    this.#failures++;
    const link = page.link('new-chat', `${page.url('home')}?deleted=${page.conversation}`);
    if (!busy) page.showNotice('deleted', link);
  }

  async #applyState(state) {
    const chat = this.#chat;
    if (page.tabTitle(state.title) !== document.title) chat.withSidebar((sidebar) => sidebar.showTitle(page.conversation, state.title));
    const since = staleFrom(this.#shown, state);
    if (!chat.busy && since !== null) {
      const version = await import('./thread.js').then(({ updateThread }) => updateThread(chat, since), () => null);
      if (version === null) page.showNotice('elsewhere', page.link('show-all', location.href));
      if (!version) return chat.busy;
      this.#version = version;
      if (!chat.busy) chat.setMark(''); // turns made elsewhere, now seen
    } else if (!chat.busy) this.#version = state.version;
    if (!chat.busy || since === null) [this.#anchor] = this.#shownIds;
    this.#updateContextStart(state);
    return true;
  }

  /** The ids of the messages on the page, the last one first; '' for a message without an id. */
  get #shownIds() {
    return Array.from(this.#chat.thread.querySelectorAll('.message'), ({ dataset }) => dataset.message ?? '').reverse();
  }

  get #shown() {
    const ids = this.#shownIds;
    const { run, status } = document.getElementById(`m-${ids[0]}`)?.dataset ?? {};
    return { ids, anchor: this.#anchor, run, status };
  }

  /** Show the line above which the model no longer reads messages. */
  #updateContextStart({ model, context_start: start }) {
    const chosen = this.#chat.composer.model;
    if (chosen && model && chosen !== model) this.#fetchContextStart(chosen);
    else this.#showContextStart(start);
  }

  async #fetchContextStart(model) {
    if (!page.conversation) return;
    const url = `${page.url('context', page.conversation)}?model=${encodeURIComponent(model)}`;
    const context = await fetchJson(url).catch(() => null);
    if (context && model === this.#chat.composer.model) this.#showContextStart(context.context_start);
  }

  #showContextStart(start) {
    showContextLine(this.#chat.thread, start);
    this.#chat.followEnd();
  }
}

/**
 * Return the milliseconds until the next request: longer on an idle page, and after failures.
 * @param {number} idle  milliseconds without input
 * @param {number} failures  since the last success
 */
export function pollDelay(idle, failures) {
  return Math.min(MAX_POLL_MS, POLL_MS * Math.max(1, idle / IDLE_AFTER_MS, 2 ** failures));
}

/**
 * Return the message from which on the page may be out of date; null if it is up to date, '' if it is empty.
 * @param {{ids: string[], anchor: string, run: string, status: string}} shown  the messages on the page, the last one
 *   first; the newest one up to which they are known to match the server; the last one's run and status
 * @param {{trail: string[], run: string|null, status: string}} state  the server's: the last three messages
 */
export function staleFrom({ ids, anchor, ...last }, { trail, run, status }) {
  const [at, from, length] = commonPart(ids, trail);
  if (at < 0) return ids[0] ?? '';
  if (from + length < trail.length) return ids[at + length] ?? ids[at];
  if (at || from) return ids[at];
  // After a turn made on this page, messages may be missing before those that the trail lists.
  if (ids.indexOf(anchor) >= trail.length) return anchor;
  const same = last.run === (run ?? '') && last.status === (status || 'complete');
  return same ? null : ids[0];
}

/**
 * Compare two lists of ids from their first common one to the first difference. Return its index in each list
 * (-1: there is none), and the number of common ids.
 */
function commonPart(shown, trail) {
  const at = shown.findIndex((id) => trail.includes(id));
  const from = trail.indexOf(shown[at]);
  const apart = trail.slice(from).findIndex((id, n) => shown[at + n] !== id);
  return [at, from, apart < 0 ? trail.length - from : apart];
}

/** @param {string|null} start  the oldest message that is sent to the model; `next`: none of those shown */
function showContextLine(thread, start) {
  const known = thread.querySelector('.context-start');
  const first = start === 'next' ? null : document.getElementById(`m-${start}`);
  const above = start === 'next' || (first && thread.querySelector('.older, .message') !== first);
  if (!above) return known?.remove();
  const line = known ?? cloneTemplate('context-template');
  if (first) {
    if (first.previousElementSibling !== line) first.before(line);
  } else if (thread.lastElementChild !== line) thread.append(line);
  return undefined;
}
