/**
 * The key code of an Enter that ended a composition. In Safari nothing else tells it from another Enter:
 * WebKit bug 165004.
 */
const INPUT_METHOD_KEY_CODE = 229;
const NEW = 'new'; // the conversation that has no address yet
const NONE = '{}';
const SAVE_AFTER = 250; // milliseconds after the last input
const DOUBLE_TAP_MILLISECONDS = 350; // the second tap of a finger comes sooner; browsers do not count taps
const DOUBLE_CLICK_MILLISECONDS = 1_000; // the slowest double click that systems can be set to

/**
 * Return whether this keydown sends. Enter makes a new line on a touch
 * keyboard, and for people who chose that.
 */
export function sends(event, line = touch() || document.documentElement.dataset.enter === 'line') {
  if (event.key !== 'Enter' || event.isComposing || event.keyCode === INPUT_METHOD_KEY_CODE) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return !event.shiftKey && !event.altKey && !line;
}

/**
 * Return whether a press of the button is meant for the action that it shows, Send or Stop. It is not if the
 * press began before the button showed that action, or if it is the second half of the double click or double
 * tap that has just sent or stopped.
 * @param {{began: number, clicks: number}} press  the time at which it went down, and the browser's count of
 *   clicks
 * @param {{shown: number, used: number}} button  the time since which it shows this action, and the time of
 *   its last action
 */
export function isMeant({ began, clicks }, { shown, used }) {
  const apart = clicks > 1 ? DOUBLE_CLICK_MILLISECONDS : DOUBLE_TAP_MILLISECONDS;
  return began >= shown && began - used >= apart;
}

/** Return a version 4 UUID. `crypto.randomUUID` is absent on http:// addresses other than localhost. */
export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // 0 is replaced by any hexadecimal digit, 8 by one of the variant's.
  return '00000000-0000-4000-8000-000000000000'.replace(/[08]/g, (digit) => {
    const [random] = crypto.getRandomValues(new Uint8Array(1));
    return (digit === '8' ? 8 + (random & 3) : random & 15).toString(16);
  });
}

/**
 * Stores text that the server has not accepted yet: drafts, and the client key of the
 * message on its way. It survives a reload, a crash and a new sign-in, so that a repeated
 * send of the same message counts as the same send.
 */
export class Outbox {
  #storage;
  #user;

  /** @param {Storage|null} storage  null: the browser offers no storage, and nothing is kept */
  constructor(storage, user) {
    this.#storage = storage;
    this.#user = user;
  }

  static open(user) {
    try {
      return new Outbox(localStorage, user);
    } catch (error) {
      console.warn('Drafts are not kept:', error);
      return new Outbox(null, user);
    }
  }

  draft(conversation) {
    return this.#storage?.getItem(this.#name('draft', conversation)) ?? '';
  }

  keep(conversation, text) {
    this.#write(this.#name('draft', conversation), text);
  }

  /** Return the client key for exactly this message: the same key until it is released. */
  keyFor(conversation, message) {
    const name = this.#name('sending', conversation);
    const wanted = JSON.stringify(message);
    const [content, key] = JSON.parse(this.#storage?.getItem(name) ?? '[]');
    if (content === wanted) return key;
    const fresh = newKey();
    this.#write(name, JSON.stringify([wanted, fresh]));
    return fresh;
  }

  release(conversation) {
    this.#write(this.#name('sending', conversation), '');
  }

  /** @returns {string[]} the names of the drafts that begin with `beginning` */
  drafts(beginning) {
    const mine = this.#name('draft', '');
    return this.#named(mine + beginning).map((name) => name.slice(mine.length));
  }

  /** Remove everything of this person from the machine, on sign-out. */
  purge() {
    for (const kind of ['draft', 'sending']) {
      for (const name of this.#named(this.#name(kind, ''))) this.#storage.removeItem(name);
    }
  }

  #named(beginning) {
    return Object.keys(this.#storage ?? {}).filter((name) => name.startsWith(beginning));
  }

  #name(kind, conversation) {
    return `${kind}:${this.#user}:${conversation}`;
  }

  #write(name, value) {
    try {
      if (value) this.#storage?.setItem(name, value);
      else this.#storage?.removeItem(name);
    } catch (error) {
      // Full or forbidden storage loses the draft, never the message.
      console.warn('The draft is not kept:', error);
    }
  }
}

/** The form at the foot of the page. The same button sends and stops, so that it keeps the focus. */
export class Composer {
  #form;
  #box;
  #button;
  #outbox;
  #conversation;
  #on;
  #unsent = ''; // text that left the box and is not accepted yet
  #saved;
  #timer = 0;
  #began = 0; // the time at which the pointer or the key went down on the button
  #shown = 0; // the time since which the button shows its action
  #used = -Infinity; // the time at which it last sent or stopped

  /**
   * @param {{send: (text: string) => void, stop: () => void, editLast: () => void, resized: () => void}} on
   */
  constructor(form, outbox, conversation, on) {
    this.#form = form;
    this.#box = form.elements.content;
    this.#button = form.querySelector('button');
    this.#outbox = outbox;
    this.#conversation = conversation;
    this.#on = on;
    form.noValidate = true;
    this.#saved = outbox.draft(conversation);
    this.#box.value ||= this.#saved;
    const { system } = form.elements;
    if (system) system.value ||= outbox.draft('system');
    if (conversation === NEW) form.dataset.parameters = outbox.draft('parameters') || NONE;
    this.#listen();
    this.#fit();
  }

  get token() {
    return this.#form.elements.csrfmiddlewaretoken.value;
  }

  /** @returns {string|undefined} undefined where the page offers no choice */
  get model() {
    return this.#form.elements.model?.value;
  }

  /**
   * The fields that accompany a question: the model, and in a new
   * conversation the instructions and parameters.
   */
  get settings() {
    const { parameters } = this.#form.dataset;
    return {
      model: this.model,
      system: this.#form.elements.system?.value || undefined,
      parameters: this.#conversation === NEW && parameters !== NONE ? JSON.parse(parameters) : undefined,
    };
  }

  /** @param {''|'live'|'stopping'} state */
  set busy(state) {
    if (!state !== !this.busy) this.#shown = performance.now();
    this.#form.dataset.busy = state;
    this.#button.ariaLabel = state ? this.#button.dataset.stop : this.#button.dataset.send;
  }

  get busy() {
    return this.#form.dataset.busy ?? '';
  }

  focus() {
    if (!touch()) this.#box.focus({ preventScroll: true });
  }

  /** Put suggested words into the box, unless it already holds text. */
  start(text) {
    if (!this.#box.value) this.#put(text);
    this.#box.focus();
  }

  /** Empty the box. Its text stays in the draft until the server has accepted it. */
  hold() {
    this.#unsent = this.#box.value;
    this.#put('');
  }

  accepted() {
    this.#unsent = '';
    this.#save();
  }

  giveBack() {
    const text = this.#everything();
    this.#unsent = '';
    this.#put(text);
  }

  /** Bind later messages and drafts to the new conversation, which has an address now. */
  moveTo(conversation, action) {
    for (const name of [this.#conversation, 'system', 'parameters']) this.#outbox.keep(name, '');
    this.#conversation = conversation;
    this.#form.action = action;
    this.#saved = '';
    this.#save();
  }

  #listen() {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!this.busy) this.#send();
    });
    for (const type of ['pointerdown', 'keydown']) this.#button.addEventListener(type, (event) => this.#press(event));
    this.#button.addEventListener('click', (event) => this.#click(event));
    this.#box.addEventListener('keydown', (event) => {
      const doing = this.#meant(event);
      if (!doing) return;
      event.preventDefault();
      doing();
    });
    this.#box.addEventListener('input', () => {
      this.#used = -Infinity; // a person who types is not in the middle of a double click
      this.#fit();
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#save(), SAVE_AFTER);
    });
    addEventListener('pagehide', () => this.#save());
    document.addEventListener('visibilitychange', () => this.#save());
  }

  /** Note the beginning of a press. A key that is held down counts once. */
  #press(event) {
    if (!event.repeat) this.#began = event.timeStamp;
    else if (event.key === 'Enter') event.preventDefault();
  }

  /**
   * Stop the reply; sending is left to the form. After a stop by mouse the focus goes to the box, after a
   * stop by keyboard it stays on the button.
   */
  #click(event) {
    const { timeStamp, detail: clicks } = event;
    const meant = isMeant({ began: this.#began || timeStamp, clicks }, { shown: this.#shown, used: this.#used });
    this.#began = 0;
    if (!meant || this.busy) event.preventDefault();
    if (!meant) return;
    this.#used = timeStamp;
    if (!this.busy) return;
    this.#on.stop();
    if (clicks) this.focus();
  }

  /** @returns {(() => void)|undefined} the action of a key, if it does more than write */
  #meant(event) {
    const { key, repeat } = event;
    const { value } = this.#box;
    if (sends(event)) return () => repeat || this.busy || this.#send();
    if (event.isComposing) return undefined;
    if (key === 'Escape' && this.busy) return repeat ? undefined : this.#on.stop;
    if (key === 'ArrowUp' && !value) return this.#on.editLast;
    return undefined;
  }

  #send() {
    const text = this.#box.value;
    if (text.trim()) this.#on.send(text);
  }

  #put(text) {
    this.#box.value = text;
    this.#fit();
    this.#save();
  }

  #everything() {
    return [this.#unsent, this.#box.value].filter(Boolean).join('\n\n');
  }

  #save() {
    clearTimeout(this.#timer);
    const text = this.#everything();
    // Another tab may have a newer draft of this conversation, so only text typed in this tab is written.
    if (text === this.#saved) return;
    this.#saved = text;
    this.#outbox.keep(this.#conversation, text);
  }

  #fit() {
    if (!CSS.supports('field-sizing', 'content')) {
      this.#box.style.height = 'auto';
      this.#box.style.height = `${this.#box.scrollHeight}px`;
    }
    this.#on.resized();
  }
}

function touch() {
  return matchMedia('(pointer: coarse)').matches;
}
