import { newUuid } from './drafts.js';

const PREFIX = 'edit-';
const ID_LENGTH = 36; // characters of a UUID
const MAX_EDITS = 20; // edits of one person; beyond these the oldest is removed

/** The unsent edits of messages, stored for each tab. A tab overwrites only its own. */
export class EditDrafts {
  #drafts;
  #tab = (sessionStorage.tab ??= newUuid());

  /** @param {import('./drafts.js').DraftStore} drafts */
  constructor(drafts) {
    this.#drafts = drafts;
  }

  /** @returns {string[]} the ids of the messages that this tab was editing */
  get messages() {
    const names = this.#drafts.names(PREFIX).filter((name) => name.endsWith(this.#tab));
    return names.map((name) => name.slice(PREFIX.length, PREFIX.length + ID_LENGTH));
  }

  /**
   * Return this tab's edit of a message, else the newest edit of another tab, with its origin as `source`.
   * @returns {{text: string, source?: object, attachments?: object[], start?: number, end?: number, held?: boolean}|undefined}
   */
  find(message) {
    const edits = this.#drafts.names(PREFIX + message).map((name) => this.#read(name));
    const own = edits.find(({ from }) => from === this.#name(message));
    const [newest] = edits.sort((a, b) => b.at - a.at);
    return own ?? (newest && { text: newest.text, attachments: newest.attachments, source: { from: newest.from, at: newest.at } });
  }

  /** @param {{text: string, source?: object, attachments?: object[], start?: number, end?: number, held?: boolean}} edit */
  save(message, edit) {
    const name = this.#name(message);
    this.#drafts.save(name, JSON.stringify({ ...edit, at: Date.now() }));
    const others = this.#drafts.names(PREFIX).filter((other) => other !== name);
    const newest = others.map((other) => this.#read(other)).sort((a, b) => b.at - a.at);
    for (const { from } of newest.slice(MAX_EDITS - 1)) this.#drafts.save(from, '');
  }

  /**
   * Remove an edit that was sent or cancelled. If it continued another tab's edit, remove
   * that one too, unless it has changed since.
   */
  remove(message) {
    const name = this.#name(message);
    const { source } = this.#read(name);
    if (source && this.#read(source.from).at === source.at) this.#drafts.save(source.from, '');
    this.#drafts.save(name, '');
  }

  #name(message) {
    return `${PREFIX}${message}-${this.#tab}`;
  }

  #read(name) {
    return { ...JSON.parse(this.#drafts.load(name) || '{}'), from: name };
  }
}
