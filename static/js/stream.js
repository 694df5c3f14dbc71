import { Connection, EventStreamParser, parseObject, parseRetryAfter, readError } from './event_stream.js';
import { jsonRequest } from './page.js';

const EVENT_STREAM = 'text/event-stream';

/** `maxSends` is the number of attempts to send a message before its text is given back. */
const TIMINGS = {
  retryMs: 1_000, // first step of the backoff, until the stream's `retry` field sets another
  maxRetryMs: 15_000,
  stallMs: 40_000, // the server pings every 15 s, so a response without a byte for this long is dead
  maxRetryAfterMs: 20_000, // a refusal with a longer Retry-After is shown to the sender instead of waited out
  maxSends: 5,
};

/**
 * Follows one reply from the first request to [DONE], over as many connections as that takes.
 *
 * `on` has these callbacks, called in the order of the events:
 *   accepted()                the server has the message
 *   open()                    a connection carries the stream (again)
 *   meta(payload)             once per connection
 *   text(payload)             `response` and `reasoning` to append; never the same piece twice
 *   step(payload)             a call of a tool has begun or ended
 *   reset()                   the text appended so far is void, all of it follows again
 *   problem(payload)          a sentence for the person; the stream goes on
 *   done(payload)             the end of the run and its usage
 *   disconnected(milliseconds)  no connection; the next attempt follows after that time
 *   end({kind, status, error})   always last. kind: done, signed-out, refused, busy (another reply is
 *                             being written), unreachable or cancelled
 *
 * Ids are opaque: the last one is kept and echoed, never compared or counted.
 */
export class RunStream {
  #urls;
  #token;
  #on;
  #timings;
  #message = null; // {url, body} until a run is known
  #run = '';
  position = ''; // after the last event, from which another stream of the same run can go on
  #retryMs;
  #attempts = 0;
  #connection = null;
  #paused = false;
  stopping = false; // the person has asked for a stop
  #reconnectRequested = false;
  #ended = false;
  #wake = () => {};

  /**
   * @param {{stream: (run: string) => string, stop: (run: string) => string}} urls
   * @param {string} token  the value for X-CSRFToken
   */
  constructor({ urls, token, on, timings = TIMINGS }) {
    this.#urls = urls;
    this.#token = token;
    this.#on = on;
    this.#timings = timings;
    this.#retryMs = timings.retryMs;
  }

  /** Send a message and follow its reply. `body.client_key` makes a repeated send harmless. */
  send(url, body) {
    this.#message = { url, body };
    return this.#loop();
  }

  /** Follow a run from a position ('': from its start). */
  follow(run, position = '') {
    this.#run = run;
    this.position = position;
    return this.#loop();
  }

  /** Close the connection; the run goes on without it. */
  pause() {
    if (this.#ended) return;
    this.#paused = true;
    this.#connection?.close();
  }

  resume() {
    if (!this.#paused) return;
    this.#paused = false;
    this.#attempts = 0;
    this.#wake();
  }

  /** Make the next attempt at once, because the network is available again. */
  reconnectNow() {
    if (this.#paused) return;
    this.#attempts = 0; // the failures before say nothing about it
    this.#reconnectRequested = true;
    this.#wake();
  }

  /** Ask the server to stop the run, and read on until it has stopped. A message that was not accepted is withdrawn. */
  stop() {
    if (this.stopping) return;
    this.stopping = true;
    if (this.#run) this.#postStop();
    else this.#wake();
  }

  async #loop() {
    while (!this.#ended) {
      if (this.#paused) await this.#sleep();
      else if (this.#shouldGiveUp()) break;
      else await this.#attempt();
    }
  }

  /** A message that is not accepted is sent a limited number of times; an existing run is followed without a limit. */
  #shouldGiveUp() {
    if (this.#run) return false;
    if (this.stopping) this.#end({ kind: 'cancelled' });
    else if (this.#attempts >= this.#timings.maxSends) this.#end({ kind: 'unreachable' });
    return this.#ended;
  }

  async #attempt() {
    this.#reconnectRequested = false;
    this.#connection = new Connection(this.#timings.stallMs);
    const response = await this.#connection.fetch(...this.#request());
    const retryAfter = response ? await this.#receive(response) : 0;
    this.#connection.close();
    if (this.#ended || this.#paused || retryAfter === null || (this.stopping && !this.#run)) return;
    // The network came back during an attempt over the lost connection.
    if (this.#reconnectRequested && !retryAfter) return;
    const delay = retryAfter + this.#nextBackoff();
    // A failure without any network says nothing about the server, so a message waits until there is one.
    if (globalThis.navigator?.onLine === false) this.#attempts = Math.min(this.#attempts, this.#timings.maxSends - 1);
    if (!this.#run && this.#attempts >= this.#timings.maxSends) return; // gives up without a last wait
    this.#on.disconnected?.(delay);
    await this.#sleep(delay);
  }

  #request() {
    if (!this.#run) return [this.#message.url, jsonRequest(this.#token, this.#message.body, EVENT_STREAM)];
    const headers = { Accept: EVENT_STREAM };
    if (this.position) headers['Last-Event-ID'] = this.position;
    return [this.#urls.stream(this.#run), { headers }];
  }

  /** @returns {Promise<number|null>} the wait that the server asked for, in milliseconds; null: do not wait */
  async #receive(response) {
    if (response.status === 204) return this.#end({ kind: 'done' });
    if (!response.ok) return this.#onRefused(response.status, response.headers, await readError(response));
    // A sign-in page or a captive portal also answers 200.
    if (!response.headers.get('Content-Type')?.startsWith(EVENT_STREAM)) return 0;
    if (!this.#run) this.#on.accepted?.();
    this.#setRun(response.headers.get('X-Run-Id'));
    this.#on.open?.();
    await this.#read(response.body);
    return 0;
  }

  #onRefused(status, headers, error) {
    if (status === 401) return this.#end({ kind: 'signed-out', status, error });
    if (status === 409 && error.run && !this.#run) return this.#end({ kind: 'busy', status, error });
    const wait = parseRetryAfter(headers.get('Retry-After') ?? error.retry_after) * 1_000;
    const isTransient = status === 408 || status === 429 || status >= 500;
    const final = !isTransient || (!this.#run && wait > this.#timings.maxRetryAfterMs);
    return final ? this.#end({ kind: 'refused', status, error }) : wait;
  }

  #setRun(run) {
    if (!run || this.#run) return;
    this.#run = run;
    if (this.stopping) this.#postStop();
  }

  async #read(body) {
    const connection = this.#connection;
    const parser = new EventStreamParser(
      (event) => connection.closed || this.#onEvent(event, parser),
      (milliseconds) => (this.#retryMs = Math.min(milliseconds, this.#timings.maxRetryMs)),
    );
    for await (const piece of connection.pieces(body)) parser.push(piece);
  }

  #onEvent(event, parser) {
    if (event.data === '[DONE]') return this.#end({ kind: 'done' });
    const payload = parseObject(event.data);
    // Our server sends no incomplete frame, so read it again from the last good position.
    if (!payload) return this.#connection.close();
    if (event.id) {
      this.position = event.id;
      this.#attempts = 0;
    }
    if (event.type === 'reset') {
      this.position = '';
      parser.forgetId();
    }
    this.#dispatch(event.type, payload);
  }

  #dispatch(type, payload) {
    if (type === 'message') this.#on.text?.(payload);
    else if (type === 'reconnect') this.#connection.close();
    else if (payload.code === 'signed_out') this.#end({ kind: 'signed-out', error: payload });
    else if (type === 'meta') {
      this.#setRun(payload.run);
      this.#on.meta?.(payload);
    } else if (['reset', 'problem', 'step', 'done'].includes(type)) this.#on[type]?.(payload);
  }

  #end(outcome) {
    if (this.#ended) return null;
    this.#ended = true;
    this.#connection?.close();
    this.#on.end?.(outcome);
    return null;
  }

  /**
   * Return the next backoff in milliseconds, with full jitter. For a message only half is random, because its
   * few attempts must not be over before a restarting server is up:
   * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
   */
  #nextBackoff() {
    const max = Math.min(this.#timings.maxRetryMs, this.#retryMs * 2 ** this.#attempts++);
    const min = this.#run ? 0 : max / 2;
    return min + Math.random() * (max - min);
  }

  /** Wait for `milliseconds` or until `#wake()`; without a number only for the latter. */
  #sleep(milliseconds) {
    return new Promise((resolve) => {
      const timer = milliseconds === undefined ? 0 : setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #postStop() {
    const options = { ...jsonRequest(this.#token, {}), keepalive: true };
    for (let tries = 0; !this.#ended; tries++) {
      const response = await fetch(this.#urls.stop(this.#run), options).catch(() => null);
      if (response?.ok || response?.status === 404) return;
      const wait = response ? this.#onRefused(response.status, response.headers, await readError(response)) : 0;
      const delay = wait + Math.min(this.#timings.maxRetryMs, this.#retryMs * 2 ** tries);
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}
