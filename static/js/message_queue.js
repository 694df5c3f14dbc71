import { drafts } from './drafts.js';
import { announce, page } from './page.js';
import { QueueList } from './queue_list.js';
import { QueueStore } from './queue_store.js';

const LOCK_PREFIX = 'message-queue-';
const RETRY_MS = 2_000; // after the server said that another reply is being written
const MAX_AGE_MS = 3_600_000; // a page that finds older messages lets the person decide

/**
 * Return what happens to the messages at the end of a reply. After a failure, or a stop from elsewhere, they are
 * held; a stop on this page has held those that were written before it.
 * @param {string} kind  of the stream's end
 * @param {string} status  of the reply
 * @param {boolean} stopRequested  by this page
 * @returns {'send'|'retry'|'hold'}
 */
export function actionAtEnd(kind, status, stopRequested) {
  if (kind === 'busy') return 'retry';
  const hasFinished = status === 'complete' || (status === 'stopped' && stopRequested);
  return kind === 'done' && hasFinished ? 'send' : 'hold';
}

/**
 * Return whether a page sends messages that an earlier page left, instead of letting the person decide.
 * @param {string|undefined} lastStatus  of the last reply
 * @param {number} age  of the first message, in milliseconds
 */
export function continuesEarlier(lastStatus, age) {
  return lastStatus === 'complete' && age < MAX_AGE_MS;
}

/**
 * Sends the messages that wait for the end of a reply, above the message box. Each is sent with a client key of
 * its own, so that it counts once, whichever tab sends it.
 *
 * After a reply that was stopped or has failed the queue is held: the next message was written for another
 * reply, so the person decides.
 */
export class MessageQueue {
  #chat;
  #sync;
  #store;
  #list;
  #sending = ''; // the key of the message that this page is sending
  #stopRequested = false;
  #actions = {
    send: () => this.#release(),
    edit: (key) => this.#edit(key),
    'take-back': (key) => this.#takeBack(key),
    draft: (key, text) => this.#store.setDraft(key, text),
    save: (key, text) => this.#endEdit(key, text),
    cancel: (key) => this.#endEdit(key, this.#store.find(key).text),
  };

  /** @param {import('./sync.js').Sync} sync */
  constructor(chat, sync) {
    this.#chat = chat;
    this.#sync = sync;
    this.#store = new QueueStore(drafts, page.conversation);
    this.#list = new QueueList((action, ...args) => this.#actions[action](...args));
    addEventListener('storage', () => this.#reread());
    addEventListener('pageshow', ({ persisted }) => persisted && this.#reread());
    document.addEventListener('visibilitychange', () => page.conversation && this.#sendNext()); // a new chat has none of its own to send
    this.#render();
    if (!chat.busy && this.#items.length) this.#continueEarlier();
  }

  /** True if a message will be sent at the end of the reply. */
  get willSend() {
    return this.#items.length > 0 && !this.#store.held;
  }

  /** @param {object[]} [attachments]  see attachment_parts.js */
  add(text, attachments) {
    this.#store.add(text, this.#chat.composer.choice, attachments?.length ? attachments : undefined);
    this.#render();
    announce(this.#list.stateText);
    if (!this.#chat.busy) this.#sendNext();
  }

  /** Edit the last message. @returns {boolean} false if there is none */
  editLast() {
    const last = this.#items.at(-1);
    if (last) this.#edit(last.key);
    return last !== undefined;
  }

  /** Move the messages to the conversation that has just been created. */
  bind() {
    this.#store.moveTo(page.conversation);
  }

  /** Hold the messages that were written before this stop. */
  onStop() {
    this.#stopRequested = true;
    if (this.#items.length) this.#hold();
  }

  /**
   * @param {string} kind  of the stream's end
   * @param {string} status  of the reply
   */
  onEnd(kind, status) {
    const action = actionAtEnd(kind, status, this.#stopRequested);
    this.#stopRequested = false;
    this.#sending = '';
    if (action === 'send') this.#sendNext();
    else if (action === 'retry') setTimeout(() => this.#sendNext(), RETRY_MS);
    else if (this.#items.length) this.#hold();
    this.#render();
  }

  get #items() {
    return this.#store.items.filter(({ key }) => key !== this.#sending);
  }

  #continueEarlier() {
    const [{ at }] = this.#items;
    if (continuesEarlier(this.#lastStatus, Date.now() - at)) this.#sendNext();
    else this.#hold();
  }

  get #lastStatus() {
    return Array.from(this.#chat.thread.querySelectorAll('.message')).at(-1)?.dataset.status;
  }

  /** Send the first message if no reply is being written, here or elsewhere. */
  async #sendNext() {
    if (!this.#canSend) return;
    await this.#sync.poll();
    this.#reread();
    if (this.#canSend) await this.#withLock(() => this.#canSend && this.#send(this.#items[0]));
  }

  get #canSend() {
    const [first] = this.#items;
    return this.willSend && !this.#chat.busy && !this.#sending && first.draft === undefined;
  }

  /** Let only one tab send at a time. If the browser has no locks, the client key prevents a second message. */
  #withLock(send) {
    const { locks } = navigator;
    return locks ? locks.request(LOCK_PREFIX + this.#store.name, { ifAvailable: true }, (lock) => lock && send()) : send();
  }

  async #send({ key, text, model, tools, parameters, attachments }) {
    this.#sending = key;
    this.#render();
    const body = { content: text, model, client_key: key, ...(page.conversation && { parameters }) };
    if (tools) body.tools = tools; // none: it was stored by an earlier version
    if (!(await this.#chat.requestReply({ body, question: text, attachments }))) return;
    this.#store.remove(key);
    this.#render();
  }

  #hold() {
    this.#store.held = true;
    this.#render();
  }

  #release() {
    this.#store.held = false;
    this.#render();
    page.showNotice('');
    this.#sendNext();
  }

  #takeBack(key) {
    const { text, attachments } = this.#store.find(key);
    this.#store.remove(key);
    this.#render();
    this.#chat.composer.putBack(text);
    if (attachments) import('./attachments.js').then((module) => module.putBack(this.#chat, attachments));
    this.#chat.composer.focus();
  }

  #edit(key) {
    this.#store.startEdit(key);
    this.#render();
    this.#list.focusEditor(key);
  }

  #endEdit(key, text) {
    const newKey = this.#store.endEdit(key, text, this.#chat.composer.choice);
    this.#render();
    this.#list.focusEditButton(newKey);
    this.#sendNext();
  }

  #reread() {
    this.#store.read();
    this.#render();
  }

  #render() {
    if (this.#list.render(this.#items, this.#store.held)) this.#chat.composer.focus();
    this.#chat.followEnd();
  }
}
