export const ANY_ID = '00000000-0000-0000-0000-000000000000'; // the placeholder of an id in the page's URL templates
const TOKEN_FIELDS = '[name=csrfmiddlewaretoken]';
const AT_END_PX = 120; // still counts as the end: as much as can arrive at once while text streams
const JUMP_BUTTON_PX = 200; // distance from the end at which the button to the end appears
const MIN_SWIPE_PX = 10; // a finger that trembles moves less
const UP_KEYS = new Set(['PageUp', 'Home', 'ArrowUp']);

const policy = globalThis.trustedTypes?.createPolicy('server-html', { createHTML: (html) => html });

/**
 * Turn HTML into nodes. This is the only function that may: see chatsite/response_headers.py.
 * @param {string} html  from our server, which sanitised it
 * @returns {DocumentFragment}
 */
export function parseTrustedHtml(html) {
  const template = document.createElement('template');
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content;
}

/** Add its Copy to a table that is pointed at or has the focus: one for each would make long pages longer. */
export function addTableCopy({ target }) {
  const table = target.closest('.table:not(:has(> button))');
  table?.prepend(document.getElementById('code-actions-template').content.lastElementChild.cloneNode(true));
}

/** Add the buttons to each code block that lacks them, whether streamed, loaded or inserted above. */
export function addCodeActions(root) {
  for (const code of root.querySelectorAll('figcaption + pre')) {
    const actions = cloneTemplate('code-actions-template');
    const [run, open] = actions.querySelectorAll('[data-action=open-text]');
    (code.parentNode.matches('.runnable') ? open : run).remove();
    if (code.parentNode.matches('.words')) actions.querySelector('[data-action=wrap-code]').remove(); // its lines wrap
    code.before(actions);
  }
}

/** Return a new node from one of the page's templates. */
export function cloneTemplate(template) {
  return document.getElementById(template).content.firstElementChild.cloneNode(true);
}

let element; // stays readable once login_dialog.js has emptied the page
const main = () => (element ??= document.getElementById('chat'));
const notice = () => document.getElementById('notice');

/** Return a sentence with its {names} filled in. */
export function fill(sentence, values = {}) {
  return sentence.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}

/**
 * The data that the server put into the page: sentences (`data-msg-*`), addresses (`data-url-*`), the CSRF token;
 * and the notice above the message box.
 */
export const page = {
  get conversation() {
    return main().dataset.conversation;
  },

  set conversation(id) {
    main().dataset.conversation = id;
  },

  /** The name of the drafts of this conversation. */
  get draft() {
    return this.conversation || 'new';
  },

  /** True for a chat that is deleted when its page is left. */
  get temporary() {
    return main().dataset.temporary !== undefined;
  },

  /** @returns {string} what stands on the tab: a title, and the site's name if it has one */
  tabTitle(title) {
    const { site } = document.querySelector('title').dataset;
    return site ? `${title} · ${site}` : title;
  },

  /** @returns {string} a sentence with its {names} filled in, '' if the page does not have it */
  text(name, values) {
    return fill(main().getAttribute(`data-msg-${name}`) ?? '', values);
  },

  number(value, digits = 0, useGrouping = false) {
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping };
    return value.toLocaleString(document.documentElement.lang || undefined, options);
  },

  seconds(value, digits = 1) {
    return this.text('seconds', { n: this.number(value, digits) });
  },

  url(name, id = '') {
    return main().getAttribute(`data-url-${name}`).replace(ANY_ID, id);
  },

  modelName(id) {
    const options = document.getElementById('model')?.options;
    return options ? (Array.from(options).find(({ value }) => value === id)?.text ?? '') : main().dataset.modelName;
  },

  get token() {
    return document.querySelector(TOKEN_FIELDS).value;
  },

  /** Set the new token in every form of the page after a new sign-in, including those in templates. */
  set token(value) {
    const roots = [document, ...Array.from(document.querySelectorAll('template'), ({ content }) => content)];
    for (const root of roots) for (const input of root.querySelectorAll(TOKEN_FIELDS)) input.value = value;
  },

  /** @returns {Promise<Response>} rejects as `fetch` does, if there is no answer */
  post(url, body = {}, options = {}) {
    return fetch(url, { ...jsonRequest(this.token, body), ...options });
  },

  link(name, href) {
    return Object.assign(document.createElement('a'), { href, textContent: this.text(name) });
  },

  /** Show a sentence of the page above the message box, by its name; '' removes it. */
  showNotice(name, link) {
    this.setNotice(name && this.text(name), link, name);
  },

  /** Remove the sentence above the box if it is one of these, because it no longer holds. */
  clearNotice(...names) {
    if (names.includes(notice()?.dataset.code)) this.showNotice('');
  },

  setNotice(sentence, link, code = '') {
    const { dataset } = notice();
    // If set again, it would be read out again.
    if (code && dataset.code === code) return;
    dataset.code = code;
    notice().replaceChildren(sentence, ...(link ? [' ', link] : []));
  },
};

/** Announce a text to screen readers. */
export function announce(text) {
  document.getElementById('status').textContent = text;
}

/**
 * Return the options of a `fetch` that posts JSON.
 * @param {string} token  the CSRF token
 * @param {object} body
 * @param {string} [accept]  the media type of the response
 */
export function jsonRequest(token, body, accept = 'application/json') {
  const headers = { 'Content-Type': 'application/json', Accept: accept, 'X-CSRFToken': token };
  return { method: 'POST', headers, body: JSON.stringify(body) };
}

/** Keeps the end of the page in view while the reader is there, and only then. */
export class ScrollFollower {
  following = true;
  #top = 0;
  #touchY = 0;
  #button;

  constructor(button) {
    this.#button = button;
    addEventListener('scroll', () => this.#onScroll());
    addEventListener('resize', () => this.follow());
    addEventListener('wheel', (event) => this.#onWheel(event), { passive: true });
    addEventListener('touchstart', (event) => (this.#touchY = event.touches[0].clientY), { passive: true });
    addEventListener('touchmove', (event) => this.#onTouchMove(event), { passive: true });
    addEventListener('keydown', (event) => this.#onKeydown(event));
    button.addEventListener('click', () => this.jump());
  }

  /** Stop following: the page was opened at one of its messages. */
  release() {
    this.following = false;
  }

  follow() {
    if (!document.querySelector('.message')) return; // a new chat begins at its top
    if (this.following) scrollTo(0, document.documentElement.scrollHeight);
    this.#updateButton();
  }

  jump() {
    this.following = true;
    this.follow();
  }

  #onScroll() {
    this.following = followsAfterScroll(this.following, scrollY - this.#top, this.#distanceFromEnd());
    this.#top = scrollY;
    this.#updateButton();
  }

  // These events precede the scroll event, until which the next piece of text would undo the movement.

  #onWheel({ deltaX, deltaY, ctrlKey, target }) {
    if (deltaY < 0 && !ctrlKey && -deltaY > Math.abs(deltaX)) this.#releaseFor(target);
  }

  #onTouchMove({ touches, target }) {
    if (touches[0].clientY > this.#touchY + MIN_SWIPE_PX) this.#releaseFor(target);
  }

  #onKeydown({ key, shiftKey, target }) {
    const up = UP_KEYS.has(key) || (key === ' ' && shiftKey);
    if (up && !target.matches('input, textarea, select, button')) this.#releaseFor(target);
  }

  /** Stop following, unless an element inside the page scrolls up first. */
  #releaseFor(target) {
    const page = document.documentElement;
    for (let el = target; el && el !== page; el = el.parentElement) if (el.scrollTop > 0) return;
    if (scrollY > 0) this.following = false;
  }

  #distanceFromEnd() {
    const page = document.documentElement;
    return page.scrollHeight - page.clientHeight - scrollY;
  }

  #updateButton() {
    const distance = this.#distanceFromEnd();
    if (this.following || distance < AT_END_PX) setHidden(this.#button, true);
    else if (distance > JUMP_BUTTON_PX) setHidden(this.#button, false);
  }
}

/**
 * Return whether to follow after a scroll: no longer once the reader has moved up, again at the end. A page that
 * became shorter moves to its end by itself.
 * @param {boolean} following  before it
 * @param {number} moved  down, in pixels
 * @param {number} distance  from the end, in pixels
 */
export function followsAfterScroll(following, moved, distance) {
  if (moved < -2 && distance > 2) return false;
  return following || (moved > 0 && distance < AT_END_PX);
}

/** Set `hidden` only if it differs: if set again, the browser recalculates the page's styles. */
export function setHidden(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/** Make these the children of an element. What stays is not moved, and keeps the focus and a selection. */
export function arrange(parent, nodes) {
  for (const child of Array.from(parent.children)) if (!nodes.includes(child)) child.remove();
  nodes.forEach((node, n) => parent.children[n] === node || parent.insertBefore(node, parent.children[n] ?? null));
}
