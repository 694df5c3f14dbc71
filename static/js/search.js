import { fetchJson, fetchPart } from './api.js';
import { hrefOf, itemTitle } from './conversation_item.js';
import { selectOption } from './popup_menu.js';

const WAIT_MS = 120; // debounce after the last key
const MAX_RECENT = 8; // chats that are shown before anything is typed

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
  #asked = null; // the query whose results are shown or being fetched
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
    this.#asked = null;
    this.#search();
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
    if (!typed.trim()) return this.#show({ results: recentChats() }, this.element.dataset.recent);
    const { signal } = this.#request;
    const url = `${this.#url}?${new URLSearchParams({ q: typed })}`;
    const found = await fetchJson(url, { signal }).catch(() => null);
    if (signal.aborted) return;
    if (!found) this.#asked = null;
    this.#show(found ?? { results: [] }, found ? this.#count(found) : this.element.dataset.failed);
  }

  #count({ results, building }) {
    const { one, other, none, building: incomplete } = this.element.dataset;
    const n = results.length;
    const sentence = n === 0 ? none : n === 1 ? one : other;
    return [sentence.replace('{n}', n), building ? incomplete : ''].join(' ').trim();
  }

  /** Show results below their number, which only screen readers get: a sentence to read comes alone or says what is missing. */
  #show({ results, next, building }, status) {
    const selected = this.#selected?.getAttribute('href');
    const options = results.flatMap((result) => this.#options(result));
    options.forEach((option, index) => (option.id = `search-result-${index}`));
    this.#list.replaceChildren(...options);
    this.#list.scrollTop = 0;
    this.#field.ariaExpanded = String(results.length > 0);
    const line = this.element.querySelector('[role=status]');
    line.textContent = status;
    line.classList.toggle('hidden', results.length > 0 && !building);
    const all = this.element.querySelector('.search-all');
    all.hidden = !next;
    all.firstElementChild.href = `${this.#url}?${new URLSearchParams({ q: this.#asked })}`;
    selectOption(this.#field, options, options.find((option) => option.getAttribute('href') === selected));
  }

  get #selected() {
    return this.#list.querySelector('[aria-selected=true]');
  }

  /** Return the row of a chat, and the one that leads to its further hits. */
  #options(result) {
    const [row, more] = this.element.querySelector('template').content.cloneNode(true).children;
    row.href = result.url;
    const [title, time, snippet] = row.children;
    title.replaceChildren(...marked(result.title, result.title_marks ?? []));
    if (result.snippet) snippet.replaceChildren(...marked(result.snippet, result.marks));
    else snippet.remove();
    if (result.at) time.dateTime = result.at;
    time.textContent = result.day;
    if (!result.more) return [row];
    more.href = result.more_url;
    more.textContent = result.more;
    more.ariaLabel = `${result.more}: ${result.title}`;
    return [row, more];
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
    const first = value.trim() ? this.#list.firstElementChild : null;
    (this.#selected ?? first)?.click();
  }
}

/** Return the first chats of the sidebar, each with the name of its group in place of a day. */
function recentChats() {
  const items = Array.from(document.querySelectorAll('#conversations li')).slice(0, MAX_RECENT);
  return items.map((item) => ({
    url: hrefOf(item),
    title: itemTitle(item),
    day: item.closest('.group').querySelector('h3').textContent,
  }));
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
