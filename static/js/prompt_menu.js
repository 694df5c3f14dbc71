import { fetchJson, fetchPart } from './api.js';
import { isSendKey } from './composer.js';
import { announce, page } from './page.js';
import { selectOption } from './popup_menu.js';
import { fieldsOf, fillFields } from './prompt_fields.js';

const STEPS = { ArrowDown: 1, ArrowUp: -1 };
const QUERY = /^\/(\S*)$/u; // the whole text of the box while the menu is open

const PATIENCE_MS = 8_000; // for the menu, once a command was sent

let menu = null;
let taking = false; // true until the text of a prompt that was taken is in the box
let openings = 0;
let opening = Promise.resolve(); // of the menu that was asked for last

/**
 * Return the indexes of the prompts that fit, the best first: the command begins with the query, then a word of
 * the title does.
 * @param {string} query  what was typed after the slash
 * @param {{command: string, title: string}[]} prompts
 */
export function matchingPrompts(query, prompts) {
  const wanted = query.toLowerCase();
  const rank = ({ command, title }) => {
    if (command.startsWith(wanted)) return 0;
    return title.toLowerCase().split(/\s+/u).some((word) => word.startsWith(wanted)) ? 1 : -1;
  };
  const ranks = prompts.map(rank);
  return [0, 1].flatMap((wantedRank) => prompts.flatMap((_prompt, index) => (ranks[index] === wantedRank ? [index] : [])));
}

/** Return what was typed after the slash; null if the text of the box is no query. */
export function queryIn(text) {
  return QUERY.exec(text)?.[1] ?? null;
}

/**
 * Return what a keydown does while the menu is open: a step up or down, 'take' or 'close'; null: nothing.
 * @param {KeyboardEvent} event
 */
export function menuKey({ key, isComposing, ctrlKey, metaKey, altKey, shiftKey }) {
  if (isComposing || ctrlKey || metaKey || altKey || shiftKey) return null;
  if (key === 'Enter' || key === 'Tab') return 'take';
  if (key === 'Escape') return 'close';
  return STEPS[key] ?? null;
}

/** Open the menu of prompts at the message box, which holds a slash. Without an answer the slash is only text. */
export function openPrompts(box) {
  menu?.close();
  opening = open(box).catch((error) => console.warn(error));
}

/**
 * Take the first prompt that fits a command which was sent before the menu was there.
 * @param {() => void} send  called if there is none, so that the text is a question
 */
export async function takeTyped(typed, send) {
  await wait(0); // several imports of this module end in any order, and the one that opens the menu may be the last
  if (queryIn(typed) !== null) await Promise.race([opening, wait(PATIENCE_MS)]);
  if (!taking && !menu?.takeFirst(typed)) send();
}

function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function open(box) {
  const number = ++openings;
  const fragment = await fetchPart(page.url('prompts'));
  if (number !== openings || document.activeElement !== box) return;
  menu = new PromptMenu(box, fragment);
  menu.update();
}

/**
 * The list above the box. The focus stays in the box, whose `aria-activedescendant` names the chosen prompt. The
 * box stays a text box of several lines, which may not have the role of a combobox.
 */
class PromptMenu {
  #box;
  #parts; // the list, the dialog and the template of its rows
  #list;
  #shown = []; // the options that fit, in their order
  #active = 0; // an index of #shown
  #listeners = new AbortController();

  constructor(box, fragment) {
    this.#box = box;
    this.#parts = Array.from(fragment.children);
    this.#list = fragment.querySelector('[role=listbox]');
    box.form.append(this.#list);
    const { signal } = this.#listeners;
    box.setAttribute('aria-controls', this.#list.id);
    box.setAttribute('aria-autocomplete', 'list');
    box.setAttribute('aria-haspopup', 'listbox');
    box.addEventListener('input', () => this.update(), { signal });
    box.addEventListener('blur', () => this.close(), { signal });
    // Before the box's own listener, which sends at Enter.
    box.form.addEventListener('keydown', (event) => this.#onKeydown(event), { signal, capture: true });
    this.#list.addEventListener('mousedown', (event) => event.preventDefault()); // the box keeps the focus
    this.#list.addEventListener('click', ({ target }) => this.#take(target.closest('[role=option]')));
  }

  /** Show what fits the text of the box. The menu ends when that is no query any more. */
  update() {
    const query = queryIn(this.#box.value);
    if (query === null) return this.close();
    const options = Array.from(this.#list.children);
    const before = this.#shown.length;
    const fitting = matchingPrompts(query, options.map(({ dataset }) => dataset)).map((index) => options[index]);
    this.#shown = fitting.filter(({ dataset }) => !query || !dataset.opens);
    for (const option of options) option.hidden = !this.#shown.includes(option);
    this.#list.append(...this.#shown);
    this.#list.hidden = !this.#shown.length;
    this.#choose(0);
    if (this.#shown.length && this.#shown.length !== before) this.#announceCount();
    return undefined;
  }

  /** @returns {boolean} whether there is nothing to send: a prompt fits and was taken, or the text was changed */
  takeFirst(typed) {
    if (this.#box.value !== typed) return true;
    const [first] = this.#shown;
    if (!first || first.dataset.opens) return false;
    this.#take(first);
    return true;
  }

  close() {
    this.#listeners.abort();
    this.#list.remove();
    for (const name of ['controls', 'autocomplete', 'haspopup', 'activedescendant']) this.#box.removeAttribute(`aria-${name}`);
    if (menu === this) menu = null;
  }

  #announceCount() {
    const { one, several } = this.#list.dataset;
    if (this.#shown[0].dataset.opens) return;
    announce(this.#shown.length === 1 ? one : several.replace('{number}', this.#shown.length));
  }

  #choose(index) {
    this.#active = index;
    selectOption(this.#box, this.#shown, this.#shown[index]);
  }

  #onKeydown(event) {
    const action = this.#shown.length && event.target === this.#box ? menuKey(event) : null;
    if (action === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (action === 'close') this.close();
    else if (action === 'take') this.#take(this.#shown[this.#active]);
    else this.#choose((this.#active + action + this.#shown.length) % this.#shown.length);
  }

  /** Put the text of an option into the box, with its fields filled in. */
  async #take(option) {
    if (!option) return;
    const { opens, url, title } = option.dataset;
    if (opens) return location.assign(opens);
    const typed = this.#box.value;
    const [dialog, field] = ['dialog', 'template'].map((name) => this.#parts.find((part) => part.matches(name)));
    this.close();
    const release = holdSending(this.#box.form);
    try {
      const { text } = await fetchJson(url);
      if (this.#box.value !== typed) return;
      const fields = fieldsOf(text);
      const values = fields.length ? await askForFields(dialog, field, title, fields) : new Map();
      this.#box.focus();
      if (values) insert(this.#box, fillFields(text, values));
    } catch (error) {
      console.warn(error);
      page.showNotice('not-loaded');
    } finally {
      release();
    }
  }
}

/** Ignore a second Enter, which would send the command before its text is there. @returns {() => void} ends that */
function holdSending(form) {
  const held = new AbortController();
  const options = { signal: held.signal, capture: true };
  const hold = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  form.addEventListener('submit', hold, options);
  form.addEventListener('keydown', (event) => isSendKey(event) && hold(event), options);
  taking = true;
  return () => {
    taking = false;
    held.abort();
  };
}

/**
 * Ask for the values of the fields in a dialog.
 * @returns {Promise<Map<string, string>|null>} the values by name; null: cancelled
 */
function askForFields(dialog, template, title, fields) {
  dialog.querySelector('h2').textContent = title;
  const inputs = fields.map(({ name, value }, index) => {
    const row = template.content.firstElementChild.cloneNode(true);
    const [label, input] = row.children;
    input.id = `prompt-field-${index}`;
    label.htmlFor = input.id;
    label.textContent = name;
    input.value = value;
    dialog.querySelector('.prompt-inputs').append(row);
    return input;
  });
  const submit = dialog.querySelector('[value=insert]');
  dialog.addEventListener('keydown', (event) => {
    if (!inputs.includes(event.target) || !isSendKey(event)) return;
    event.preventDefault();
    submit.click();
  });
  document.body.append(dialog);
  dialog.showModal();
  inputs[0].focus();
  inputs[0].select();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const wanted = dialog.returnValue === 'insert';
      dialog.remove();
      resolve(wanted ? new Map(fields.map(({ name }, index) => [name, inputs[index].value])) : null);
    });
  });
}

/** Replace the text of the box as if it were typed, so that the browser can undo it. The caret goes to the end. */
function insert(box, text) {
  box.setSelectionRange(0, box.value.length);
  if (!document.execCommand('insertText', false, text)) {
    box.setRangeText(text, 0, box.value.length, 'end');
    box.dispatchEvent(new Event('input', { bubbles: true }));
  }
  box.scrollTop = box.scrollHeight;
}
