const LF = 10;
const CR = 13;
const SPACE = 32;

/**
 * Event streams in text pieces of any cut, after the WHATWG rules:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 * A TextDecoderStream in front of it joins split characters and takes the byte order mark away.
 * An event whose blank line never came is not dispatched: its data would be half.
 */
export class EventStreamParser {
  #onEvent;
  #onRetry;
  #rest = '';
  #skipLineFeed = false;
  #data = null;
  #type = '';
  #id = '';

  /**
   * @param {(event: {type: string, data: string, id: string}) => void} onEvent  `id`: the last seen or ''
   * @param {(milliseconds: number) => void} onRetry
   */
  constructor(onEvent, onRetry = () => {}) {
    this.#onEvent = onEvent;
    this.#onRetry = onRetry;
  }

  push(text) {
    let start = 0;
    if (this.#skipLineFeed && text !== '') {
      if (text.charCodeAt(0) === LF) start = 1;
      this.#skipLineFeed = false;
    }
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code !== LF && code !== CR) continue;
      this.#line(this.#rest + text.slice(start, at));
      this.#rest = '';
      if (code === CR) {
        if (at + 1 === text.length) this.#skipLineFeed = true;
        else if (text.charCodeAt(at + 1) === LF) at++;
      }
      start = at + 1;
    }
    this.#rest += text.slice(start);
  }

  /** The ids seen so far name text that was discarded. */
  forgetId() {
    this.#id = '';
  }

  #line(line) {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon < 0) return this.#field(line, '');
    if (colon === 0) return; // a comment, such as a ping
    const value = colon + (line.charCodeAt(colon + 1) === SPACE ? 2 : 1);
    this.#field(line.slice(0, colon), line.slice(value));
  }

  #field(name, value) {
    if (name === 'data') this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    else if (name === 'event') this.#type = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^[0-9]+$/.test(value)) this.#onRetry(Number(value));
  }

  #dispatch() {
    const event = { type: this.#type || 'message', data: this.#data, id: this.#id };
    this.#data = null;
    this.#type = '';
    if (event.data !== null) this.#onEvent(event);
  }
}

/** One fetch under a watchdog. Whatever ends it, closed, cut or stalled, its reader sees a plain end. */
export class Connection {
  #controller = new AbortController();
  #stall;
  #timer = 0;

  constructor(stall) {
    this.#stall = stall;
  }

  get closed() {
    return this.#controller.signal.aborted;
  }

  /** @returns {Promise<Response|null>} null: nobody answered */
  async fetch(url, options) {
    this.#alive();
    const ours = { credentials: 'same-origin', cache: 'no-store', signal: this.#controller.signal };
    try {
      return await fetch(url, { ...options, ...ours });
    } catch {
      return null;
    }
  }

  async *pieces(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      this.#alive();
      const { done, value } = await reader.read().catch(() => ({ done: true }));
      if (done || this.closed) return;
      yield value;
    }
  }

  close() {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }

  #alive() {
    clearTimeout(this.#timer);
    if (!this.closed) this.#timer = setTimeout(() => this.close(), this.#stall);
  }
}
