import { Outbox, newKey } from './composer.js';

const KIND = 'edit-';
const ID_LENGTH = 36; // characters of a UUID
const MOST = 20; // edits of one person; beyond these the oldest is forgotten

/** The unsent edits of messages, stored for each tab. A tab overwrites only its own. */
export class Edits {
  #drafts;
  #tab = (sessionStorage.tab ??= newKey());

  constructor(user) {
    this.#drafts = Outbox.open(user);
  }

  /** @returns {string[]} the ids of the messages that this tab was editing */
  get ours() {
    const names = this.#drafts.drafts(KIND).filter((name) => name.endsWith(this.#tab));
    return names.map((name) => name.slice(KIND.length, KIND.length + ID_LENGTH));
  }

  /**
   * Return this tab's edit of a message, else the newest edit of another tab, with its origin as `source`.
   * @returns {{text: string, source?: object, start?: number, end?: number, held?: boolean}|undefined}
   */
  find(message) {
    const found = this.#drafts.drafts(KIND + message).map((name) => this.#read(name));
    const own = found.find(({ from }) => from === this.#name(message));
    const [newest] = found.sort((a, b) => b.at - a.at);
    return own ?? (newest && { text: newest.text, source: { from: newest.from, at: newest.at } });
  }

  /** @param {{text: string, source?: object, start?: number, end?: number, held?: boolean}} edit */
  keep(message, edit) {
    const name = this.#name(message);
    this.#drafts.keep(name, JSON.stringify({ ...edit, at: Date.now() }));
    const others = this.#drafts.drafts(KIND).filter((other) => other !== name);
    const newest = others.map((other) => this.#read(other)).sort((a, b) => b.at - a.at);
    for (const { from } of newest.slice(MOST - 1)) this.#drafts.keep(from, '');
  }

  /**
   * Remove an edit that was sent or given up. If it continued another tab's edit, remove
   * that one too, unless it has changed since.
   */
  forget(message) {
    const name = this.#name(message);
    const { source } = this.#read(name);
    if (source && this.#read(source.from).at === source.at) this.#drafts.keep(source.from, '');
    this.#drafts.keep(name, '');
  }

  #name(message) {
    return `${KIND}${message}-${this.#tab}`;
  }

  #read(name) {
    return { ...JSON.parse(this.#drafts.draft(name) || '{}'), from: name };
  }
}
