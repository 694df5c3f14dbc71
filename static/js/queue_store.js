import { newUuid } from './drafts.js';

const EMPTY = '{"held":false,"items":[]}';

/**
 * The queued messages of one conversation. They are stored as drafts are, and all tabs of the browser share
 * them, so each change begins with what is stored.
 */
export class QueueStore {
  #drafts;
  name; // under which the messages are stored
  #state = JSON.parse(EMPTY); // items: {key, text, ...choice, attachments?, at, draft?}; `draft`: being edited
  #own; // the keys of the messages that were found at first or written here, not in another tab
  #isUnstored = false; // the browser's storage is full or forbidden, so this page alone knows the state

  /**
   * @param {import('./drafts.js').DraftStore} drafts
   * @param {string} conversation  '' for a new one
   */
  constructor(drafts, conversation) {
    this.#drafts = drafts;
    this.name = nameOf(conversation);
    this.read();
    this.#own = new Set(this.items.map(({ key }) => key));
  }

  get items() {
    return this.#state.items;
  }

  /** True if the messages wait for the person. */
  get held() {
    return this.#state.held;
  }

  set held(held) {
    this.#change((state) => (state.held = held));
  }

  read() {
    if (!this.#isUnstored) this.#state = JSON.parse(this.#drafts.load(this.name) || EMPTY);
  }

  find(key) {
    return this.items.find((item) => item.key === key);
  }

  /**
   * @param {object} [choice]  of the composer when the message was written
   * @param {object[]} [attachments]  see attachment_parts.js
   */
  add(text, choice, attachments, at = Date.now()) {
    const key = newUuid();
    this.#own.add(key);
    this.#change((state) => state.items.push({ key, text, ...choice, ...(attachments && { attachments }), at }));
  }

  remove(key) {
    this.#change((state) => (state.items = state.items.filter((item) => item.key !== key)));
  }

  startEdit(key) {
    this.#changeItem(key, (item) => (item.draft ??= item.text));
  }

  setDraft(key, draft) {
    this.#changeItem(key, (item) => (item.draft = draft));
  }

  /**
   * End the editing of a message. A changed message is another one, with another client key.
   * @returns {string} the key that the message has now
   */
  endEdit(key, text, choice) {
    const isChanged = text !== this.find(key).text;
    const changed = isChanged ? { key: newUuid(), text, ...choice } : { key };
    if (this.#own.has(key)) this.#own.add(changed.key);
    this.#changeItem(key, (item) => {
      delete item.draft;
      Object.assign(item, changed);
    });
    return changed.key;
  }

  /** Move the messages to the conversation that has just been created, but not those of another tab with a new chat. */
  moveTo(conversation) {
    this.read();
    const { held, name: former } = this;
    const others = this.items.filter(({ key }) => !this.#own.has(key));
    this.name = nameOf(conversation);
    this.#state.items = this.items.filter(({ key }) => this.#own.has(key));
    this.#write();
    this.#drafts.save(former, others.length ? JSON.stringify({ held, items: others }) : '');
  }

  #changeItem(key, change) {
    this.#change(() => change(this.find(key)));
  }

  #change(change) {
    this.read();
    change(this.#state);
    this.#write();
  }

  #write() {
    const isEmpty = !this.items.length;
    if (isEmpty) this.#state.held = false;
    const text = isEmpty ? '' : JSON.stringify(this.#state);
    this.#drafts.save(this.name, text);
    this.#isUnstored = this.#drafts.load(this.name) !== text;
  }
}

function nameOf(conversation) {
  return `queue-${conversation || 'new'}`;
}
