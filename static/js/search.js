import { fetchJson, fetchPart } from './api.js';
import { selectOption } from './popup_menu.js';

const WAIT_MS = 120; // debounce after the last key

let dialog = null;

/** Open the search. If its dialog cannot be loaded, the link's page is opened. */
export async function openSearch(link) {
  if (dialog?.element.open) return;
  dialog ??= await load(link.href).catch(() => null);
  if (dialog) dialog.open();
  else location.assign(link.href);
}

async function load(url) {
  const element = (await fetchPart(url)).querySelector('dialog');
  document.body.append(element);
  return new SearchDialog(element, url);
}

/**
 * A combobox with its list of results: the focus stays in the field, and the arrow keys choose a result.
 * https://www.w3.org/WAI/ARIA/apg/patterns/combobox/
 */
class SearchDialog {
  #field;
  #list;
  #url;
  #timer = 0;
  #request = new AbortController();
  #asked = ''; // the query whose results are shown or being fetched
  #shown = Promise.resolve(); // settled when they are shown

  constructor(element, url) {
    this.element = element;
    this.#url = url;
    this.#field = element.querySelector('input');
    this.#list = element.querySelector('[role=listbox]');
    this.#field.addEventListener('input', (event) => event.isComposing || this.#searchSoon());
    this.#field.addEventListener('compositionend', () => this.#searchSoon());
    this.#field.addEventListener('keydown', (event) => this.#onKeydown(event));
    element.addEventListener('click', ({ target }) => {
      if (target === element || target.closest('[data-part=close]')) element.close();
    });
  }

  /** Open it with the last query selected, and search again: what was found then may have changed. */
  open() {
    this.element.showModal();
    this.#field.select();
    this.#asked = '';
    if (this.#field.value.trim()) this.#search();
  }

  #searchSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#search(), WAIT_MS);
  }

  #search() {
    const typed = this.#field.value.trimStart();
    if (typed !== this.#asked) this.#shown = this.#fetch(typed);
    return this.#shown;
  }

  async #fetch(typed) {
    this.#asked = typed;
    this.#request.abort();
    this.#request = new AbortController();
    if (!typed.trim()) return this.#show({ results: [], next: null }, '');
    const { signal } = this.#request;
    const url = `${this.#url}?${new URLSearchParams({ q: typed })}`;
    const found = await fetchJson(url, { signal }).catch(() => null);
    if (signal.aborted) return;
    if (!found) this.#asked = '';
    this.#show(found ?? { results: [], next: null }, found ? this.#count(found) : this.element.dataset.failed);
  }

  #count({ results, next, building }) {
    const { one, other, more, none, building: incomplete } = this.element.dataset;
    const n = results.length;
    const sentence = n === 0 ? none : next ? more : n === 1 ? one : other;
    return [sentence.replace('{n}', n), building ? incomplete : ''].join(' ').trim();
  }

  #show({ results, next }, status) {
    const selected = this.#selected?.getAttribute('href');
    const options = results.map((result, index) => this.#option(result, index));
    this.#list.replaceChildren(...options);
    this.#list.scrollTop = 0;
    this.#field.ariaExpanded = String(results.length > 0);
    this.element.querySelector('[role=status]').textContent = status;
    const all = this.element.querySelector('.search-all');
    all.hidden = !next;
    all.firstElementChild.href = `${this.#url}?${new URLSearchParams({ q: this.#asked })}`;
    selectOption(this.#field, options, options.find((option) => option.getAttribute('href') === selected));
  }

  get #selected() {
    return this.#list.querySelector('[aria-selected=true]');
  }

  #option(result, index) {
    const option = this.element.querySelector('template').content.firstElementChild.cloneNode(true);
    option.id = `search-result-${index}`;
    option.href = result.url;
    const [title, time, snippet] = option.children;
    if (result.message) {
      title.textContent = result.title;
      snippet.replaceChildren(...marked(result.snippet, result.marks));
    } else {
      title.replaceChildren(...marked(result.snippet, result.marks));
      snippet.remove();
    }
    time.dateTime = result.at;
    time.textContent = new Date(result.at).toLocaleDateString(document.documentElement.lang, { dateStyle: 'medium' });
    return option;
  }

  #onKeydown(event) {
    if (event.isComposing || event.altKey || event.metaKey) return;
    const options = Array.from(this.#list.children);
    const at = options.findIndex(({ ariaSelected }) => ariaSelected === 'true');
    const steps = { ArrowDown: at + 1, ArrowUp: at < 0 ? options.length - 1 : at - 1 };
    if (event.key === 'Enter') {
      event.preventDefault();
      this.#follow();
    } else if (event.key === 'Escape') {
      // The list is no popup of the field, which Escape would dismiss first, but a part of the dialog, which it
      // closes. Browsers would clear the field instead; kept and selected, the text costs a slip of the key nothing.
      event.preventDefault();
      this.element.close();
    } else if (Object.hasOwn(steps, event.key)) {
      event.preventDefault();
      selectOption(this.#field, options, options.at(steps[event.key] % (options.length || 1)));
    }
  }

  /** Open the selected result, or the first one of what is typed: the list may still be that of an earlier query. */
  async #follow() {
    clearTimeout(this.#timer);
    const { value } = this.#field;
    await this.#search();
    if (!this.element.open || this.#field.value !== value) return;
    (this.#selected ?? this.#list.firstElementChild)?.click();
  }
}

/**
 * Return the text as nodes, with a `<mark>` around each match.
 * @param {string} text
 * @param {[number, number][]} places  in code points
 */
export function marked(text, places) {
  const characters = Array.from(text);
  const nodes = [];
  let end = 0;
  for (const [start, stop] of places) {
    const mark = document.createElement('mark');
    mark.textContent = characters.slice(start, stop).join('');
    nodes.push(characters.slice(end, start).join(''), mark);
    end = stop;
  }
  return [...nodes, characters.slice(end).join('')];
}
