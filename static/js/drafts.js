/** Return a version 4 UUID. `crypto.randomUUID` is absent on http:// addresses other than localhost. */
export function newUuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // 0 is replaced by any hexadecimal digit, 8 by one of the variant's.
  return '00000000-0000-4000-8000-000000000000'.replace(/[08]/g, (digit) => {
    const [random] = crypto.getRandomValues(new Uint8Array(1));
    return (digit === '8' ? 8 + (random & 3) : random & 15).toString(16);
  });
}

/**
 * Stores text that the server has not accepted yet: drafts, and the client key of the
 * message that is being sent. They survive a reload, a crash and a new login, so that a repeated
 * send of the same message counts as the same send.
 */
export class DraftStore {
  #closed = false;
  #storage;
  #user;

  /** @param {Storage|null} storage  null: the browser offers no storage, and nothing is kept */
  constructor(storage, user) {
    this.#storage = storage;
    this.#user = user;
  }

  static open(user) {
    try {
      return new DraftStore(localStorage, user);
    } catch (error) {
      console.warn('Drafts are not kept:', error);
      return new DraftStore(null, user);
    }
  }

  /** Store nothing more from this page: its person is no longer signed in. */
  close() {
    this.#closed = true;
  }

  load(conversation) {
    return this.#storage?.getItem(this.#storageKey('draft', conversation)) ?? '';
  }

  save(conversation, text) {
    this.#write(this.#storageKey('draft', conversation), text);
  }

  /** Return the client key for exactly this message: the same key until it is cleared. */
  keyFor(conversation, message) {
    const name = this.#storageKey('sending', conversation);
    const content = JSON.stringify(message);
    const [storedContent, storedKey] = JSON.parse(this.#storage?.getItem(name) ?? '[]');
    if (storedContent === content) return storedKey;
    const key = newUuid();
    this.#write(name, JSON.stringify([content, key]));
    return key;
  }

  clearKey(conversation) {
    this.#write(this.#storageKey('sending', conversation), '');
  }

  /** @returns {string[]} the names of the drafts that begin with `prefix` */
  names(prefix) {
    const mine = this.#storageKey('draft', '');
    return this.#keysWith(mine + prefix).map((name) => name.slice(mine.length));
  }

  /** Remove everything of this person from the machine, on sign-out. */
  clear() {
    for (const kind of ['draft', 'sending']) {
      for (const name of this.#keysWith(this.#storageKey(kind, ''))) this.#storage.removeItem(name);
    }
  }

  #keysWith(prefix) {
    return Object.keys(this.#storage ?? {}).filter((name) => name.startsWith(prefix));
  }

  #storageKey(kind, conversation) {
    return `${kind}:${this.#user}:${conversation}`;
  }

  #write(name, value) {
    if (this.#closed) return;
    try {
      if (value) this.#storage?.setItem(name, value);
      else this.#storage?.removeItem(name);
    } catch (error) {
      // Full or forbidden storage loses the draft, never the message.
      console.warn('The draft is not kept:', error);
    }
  }
}

export const joinTexts = (...texts) => texts.filter(Boolean).join('\n\n');

/** @returns {string} the draft of a form's box, with the pasted texts that are not uploaded yet: see background.js */
export function textOf({ elements, pasted = [] }, unsent = '') {
  return joinTexts(unsent, elements.content.value, ...Array.from(pasted, (file) => file.pasted));
}

/** The drafts of the person whose page this is. */
export const drafts = globalThis.document && DraftStore.open(document.getElementById('sign-out')?.dataset.user);

/** True if `reloadToSend` loaded this page: the draft is to be sent now. */
export const isReloadedToSend = Boolean(globalThis.history?.state?.resend);
if (isReloadedToSend) history.replaceState(null, ''); // a later reload sends nothing

/**
 * Reload the page, to send its draft, once the server answers. Firefox remembers for the life of a page that an
 * `import()` has failed (https://github.com/whatwg/html/issues/6768). It is done once: a reload may not help.
 * @param {string} name  of the draft; without one the text would be lost
 */
export async function reloadToSend(name) {
  if (isReloadedToSend || !drafts.load(name)) return;
  const response = await fetch(location.href, { method: 'HEAD' }).catch(() => null);
  if (!response?.ok) return;
  history.replaceState({ resend: true }, '');
  location.reload();
}
