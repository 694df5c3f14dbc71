/**
 * Parses an event stream from pieces of text that may be cut anywhere, after the WHATWG rules:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 * A TextDecoderStream before it joins split characters and removes the byte order mark.
 * An event without its final blank line is not dispatched, because its data would be incomplete.
 */
export class EventStreamParser {
  #onEvent;
  #onRetry;
  #rest = '';
  #endsInReturn = false;
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
    if (!text) return;
    const [first, ...others] = text.slice(this.#endsInReturn && text[0] === '\n' ? 1 : 0).split(/\r\n|[\r\n]/);
    this.#endsInReturn = text.endsWith('\r'); // the first half of a line end may be cut from the second
    this.#rest += first;
    for (const next of others) {
      this.#line(this.#rest);
      this.#rest = next;
    }
  }

  /** Forget the last id, because it names text that was discarded. */
  forgetId() {
    this.#id = '';
  }

  #line(line) {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon < 0) return this.#field(line, '');
    if (colon === 0) return; // a comment, such as a ping
    this.#field(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
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

/** One fetch with a stall timeout. A closed, cut or stalled connection is a plain end to its reader. */
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

  /**
   * Fetch, with a millisecond more for each character of the body: the server reads as slowly as that.
   * @returns {Promise<Response|null>} null: no answer
   */
  async fetch(url, options) {
    this.#restartTimer(options.body?.length);
    const own = { cache: 'no-store', signal: this.#controller.signal };
    try {
      return await fetch(url, { ...options, ...own });
    } catch {
      return null;
    }
  }

  async *pieces(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      this.#restartTimer();
      const { done, value } = await reader.read().catch(() => ({ done: true }));
      if (done || this.closed) return;
      yield value;
    }
  }

  close() {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }

  #restartTimer(upload = 0) {
    clearTimeout(this.#timer);
    if (!this.closed) this.#timer = setTimeout(() => this.close(), this.#stall + upload);
  }
}

/** @returns {Promise<{code?: string, message?: string, retry_after?: number, run?: string}>} */
export async function readError(response) {
  return parseObject(await response.text().catch(() => ''))?.error ?? {};
}

/** @returns {object|null} null: not a JSON object */
export function parseObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Parse Retry-After, a number of seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
export function parseRetryAfter(value) {
  const seconds = Number(value ?? 0);
  if (!Number.isNaN(seconds)) return Math.max(0, seconds);
  return Math.max(0, (Date.parse(value) - Date.now()) / 1_000 || 0);
}
