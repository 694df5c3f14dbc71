import { drafts, joinTexts, textOf } from './drafts.js';
import { page } from './page.js';

/**
 * The key code of an Enter that ended an IME composition. In Safari it differs from another Enter in nothing
 * else: WebKit bug 165004.
 */
const INPUT_METHOD_KEY_CODE = 229;
const SAVE_DELAY_MS = 250; // after the last input
const LONG_TEXT = 20_000; // characters; for more, a browser that finds the direction itself is slow at each key
const DOUBLE_TAP_MS = 350; // the second tap of a finger comes sooner; browsers do not count taps
const DOUBLE_CLICK_MS = 1_000; // the slowest double click that systems can be set to

/** Return whether this keydown sends. Enter makes a new line on a touch keyboard, and for people who chose that. */
export function isSendKey(event, breaksLine = isTouch() || document.documentElement.dataset.enter === 'line') {
  if (event.key !== 'Enter' || event.isComposing || event.keyCode === INPUT_METHOD_KEY_CODE) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return !event.shiftKey && !event.altKey && !breaksLine;
}

/**
 * Return whether a press of the button is meant for the action that it shows, Send or Stop. It is not if the
 * press began before the button showed that action, or if it is the second half of the double click or double
 * tap that has just sent or stopped.
 * @param {{pressedAt: number, clicks: number}} press  the time at which it went down, and the browser's count of
 *   clicks
 * @param {{shownAt: number, usedAt: number}} button  the time since which it shows this action, and the time of
 *   its last action
 */
export function isIntendedPress({ pressedAt, clicks }, { shownAt, usedAt }) {
  const minGap = clicks > 1 ? DOUBLE_CLICK_MS : DOUBLE_TAP_MS;
  return pressedAt >= shownAt && pressedAt - usedAt >= minGap;
}

/** The form at the foot of the page. The same button sends and stops, so that it keeps the focus. */
export class Composer {
  attachments = null; // attachment_tray.js's tray, once a file was added
  #form;
  #box;
  #button;
  #on;
  #unsent = ''; // text that left the box and is not accepted yet
  #savedText;
  #timer = 0;
  #pressedAt = 0; // the time at which the pointer or the key went down on the button
  #switched; // {thinking} once the person has switched it
  #shownAt = 0; // the time since which the button shows its action
  #usedAt = -Infinity; // the time at which it last sent or stopped

  /** @param {{send: (text: string) => void, stop: () => void, editLast: () => void, resized: () => void}} on */
  constructor(form, on) {
    this.#form = form;
    this.#box = form.elements.content;
    this.#button = form.querySelector('.send');
    this.#on = on;
    form.noValidate = true;
    this.#savedText = drafts.load(page.draft);
    this.#box.value ||= this.#savedText;
    if (form.elements.system) form.elements.system.value ||= drafts.load('system');
    if (!page.conversation && !form.elements.assistant) form.dataset.parameters = drafts.load('parameters') || '{}';
    this.#listen();
    this.#fitHeight();
  }

  /** @returns {string|undefined} undefined where the page offers no choice */
  get model() {
    return this.#form.elements.model?.value;
  }

  /** The fields that accompany each request for a reply: the model, tools, and thinking once it was switched. */
  get choice() {
    const tools = Array.from(this.#form.elements).filter((each) => each.name === 'tools' && each.type === 'checkbox');
    const checked = tools.filter((each) => each.checked).map((each) => each.value);
    return { model: this.model, parameters: this.#switched, tools: tools.length ? checked : undefined };
  }

  /** The fields that accompany a question: in a new conversation also the instructions and parameters. */
  get settings() {
    const { assistant, system, temporary } = this.#form.elements;
    const settings = { ...this.choice, system: system?.value || undefined };
    if (page.conversation) return settings;
    const parameters = { ...JSON.parse(assistant?.dataset.unset ?? '{}'), ...JSON.parse(this.#form.dataset.parameters), ...this.#switched };
    return {
      ...settings,
      parameters: Object.keys(parameters).length ? parameters : undefined,
      temporary: temporary ? true : undefined,
      assistant: assistant?.value,
    };
  }

  /** @param {''|'live'|'stopping'} state */
  set busy(state) {
    if (!state !== !this.busy) this.#shownAt = performance.now();
    this.#form.dataset.busy = state;
    this.#button.ariaLabel = state ? this.#button.dataset.stop : this.#button.dataset.send;
  }

  get busy() {
    return this.#form.dataset.busy ?? '';
  }

  focus() {
    if (!isTouch()) this.#box.focus({ preventScroll: true });
  }

  /** Put suggested words into the box, unless it already holds text. */
  suggest(text) {
    if (!this.#box.value) this.#setText(text);
    this.#box.focus();
  }

  /**
   * Empty the box. Its text and attachments stay in the draft until the server has accepted them.
   * @returns {object[]|undefined} the attachments
   */
  takeText() {
    this.#unsent = this.#box.value;
    this.#setText('');
    return this.attachments?.take();
  }

  onAccepted() {
    this.#unsent = '';
    this.#save();
    this.attachments?.onAccepted();
  }

  restoreText() {
    const text = this.#unsent;
    this.#unsent = '';
    this.putBack(text);
    this.attachments?.restore();
  }

  /** Put a text into the box, before the text that it holds. */
  putBack(text) {
    this.#setText(joinTexts(text, this.#box.value));
  }

  /** Move the draft to the new conversation, which has an address now. */
  bind() {
    for (const name of ['new', 'attachments-new', 'system', 'parameters']) drafts.save(name, '');
    this.#form.action = page.url('send', page.conversation);
    this.#savedText = '';
    this.#save();
  }

  #listen() {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!this.busy) this.send();
    });
    this.#form.elements.thinking?.addEventListener('change', ({ target }) => (this.#switched = { thinking: target.checked }));
    this.#form.querySelector('.queue-button').addEventListener('click', () => {
      this.send();
      this.focus();
    });
    for (const type of ['pointerdown', 'keydown']) this.#button.addEventListener(type, (event) => this.#onPress(event));
    this.#button.addEventListener('click', (event) => this.#onClick(event));
    this.#box.addEventListener('keydown', (event) => {
      const action = this.#actionOf(event);
      if (!action) return;
      event.preventDefault();
      action();
    });
    this.#box.addEventListener('input', () => {
      this.#usedAt = -Infinity; // a person who types is not in the middle of a double click
      this.#fitHeight();
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#save(), SAVE_DELAY_MS);
    });
    addEventListener('pagehide', () => this.#save());
    document.addEventListener('visibilitychange', () => this.#save());
  }

  /** Note when a press begins. A key that is held down counts once. */
  #onPress(event) {
    if (!event.repeat) this.#pressedAt = event.timeStamp;
    else if (event.key === 'Enter') event.preventDefault();
  }

  /**
   * Stop the reply; sending is left to the form. After a stop by mouse the focus goes to the box, after a
   * stop by keyboard it stays on the button.
   */
  #onClick(event) {
    const { timeStamp, detail: clicks } = event;
    const press = { pressedAt: this.#pressedAt || timeStamp, clicks };
    const meant = isIntendedPress(press, { shownAt: this.#shownAt, usedAt: this.#usedAt });
    this.#pressedAt = 0;
    if (!meant || this.busy) event.preventDefault();
    if (!meant) return;
    this.#usedAt = timeStamp;
    if (!this.busy) return;
    this.#on.stop();
    if (clicks) this.focus();
  }

  /** @returns {(() => void)|undefined} the action of a key, if it does more than write */
  #actionOf(event) {
    const { key, repeat } = event;
    const { value } = this.#box;
    if (isSendKey(event)) return () => repeat || this.send();
    if (event.isComposing) return undefined;
    if (key === 'Escape' && this.busy) return repeat ? undefined : this.#on.stop;
    if (key === 'ArrowUp' && !value) return this.#on.editLast;
    return undefined;
  }

  send() {
    const text = this.#box.value;
    const hasAttachments = this.attachments?.size > 0;
    if (hasAttachments ? this.attachments.isReady() : text.trim()) this.#on.send(text);
  }

  #setText(text) {
    this.#box.value = text;
    this.#fitHeight();
    this.#save();
  }

  #save() {
    clearTimeout(this.#timer);
    const text = textOf(this.#form, this.#unsent);
    // Another tab may have a newer draft of this conversation, so only text typed in this tab is written.
    if (text === this.#savedText) return;
    this.#savedText = text;
    drafts.save(page.draft, text);
  }

  #fitHeight() {
    fitHeight(this.#box);
    this.#on.resized();
  }
}

/** Let a box be as high as its text, in browsers that cannot themselves. */
export function fitHeight(box) {
  const isLong = box.value.length > LONG_TEXT;
  const dir = isLong ? getComputedStyle(box).direction : 'auto';
  if (box.dir !== dir) box.dir = dir;
  if (CSS.supports('field-sizing', 'content')) return;
  box.style.height = isLong ? '100vh' : 'auto';
  if (!isLong) box.style.height = `${box.scrollHeight}px`;
}

export function isTouch() {
  return matchMedia('(pointer: coarse)').matches;
}
