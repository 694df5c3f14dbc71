import { saveChange } from './api.js';
import { isTouch } from './composer.js';
import { showWhole } from './conversation_item.js';
import { nextIndex } from './popup_menu.js';

/** The doors, and the rows of all models: favourites and recent ones first, the others by maker. */
export class ModelList {
  #dialog;
  #places = new Map(); // each row's group of its maker
  #favourites;
  #only = null; // the models of this opening, null for all
  #current; // the model that answers now

  /** @param {HTMLDialogElement} dialog  with the server's HTML in it */
  constructor(dialog) {
    this.#dialog = dialog;
    this.#favourites = new Set(this.#dataset.favourites.split(' '));
    for (const row of dialog.querySelectorAll('.model-row')) this.#places.set(row, row.parentElement);
    dialog.addEventListener('pointerover', ({ target }) => target.matches('.label, .model-purpose') && showWhole(target, target.textContent));
    dialog.addEventListener('focusin', ({ target }) => target.type === 'radio' && this.#admitStar(target));
  }

  /**
   * Show the doors, or the list where there is none to choose, in its first state: the current model marked.
   * @param {{current?: string, only?: string[], sees?: boolean}} opening  `sees`: only models that see pictures can
   *   be chosen
   */
  show({ current, only = null, sees = false }) {
    const rows = this.#rows();
    const isBlind = (element) => sees && element.dataset.sees === undefined;
    this.#only = only;
    const answering = rows.find((row) => radioOf(row).value === current);
    this.#current = answering && isBlind(answering) ? this.#dataset.pictures : current;
    for (const row of rows) radioOf(row).disabled = isBlind(row);
    this.#place();
    const doors = Array.from(this.#dialog.querySelectorAll('.door[value]'));
    for (const door of doors) {
      door.hidden = isBlind(door) || (only !== null && !only.includes(door.value));
      door.ariaCurrent = door.value === this.#current ? 'true' : null;
    }
    const shown = doors.filter(({ hidden }) => !hidden);
    if (shown.length > 1) this.#showDoors(shown);
    else this.showAll(); // one is no choice
  }

  #showDoors(doors) {
    const chosen = doors.find(({ ariaCurrent }) => ariaCurrent);
    const all = this.#dialog.querySelector('.door[data-part=all]');
    const current = chosen ? null : this.#rows().find((row) => radioOf(row).value === this.#current);
    all.lastElementChild.textContent = current?.querySelector('.label').textContent ?? '';
    all.ariaCurrent = current ? 'true' : null;
    this.#dialog.querySelector('.doors').hidden = false;
    (chosen ?? (current ? all : doors[0])).focus();
  }

  /** Show all models, the current one in view. */
  showAll() {
    const doors = this.#dialog.querySelector('.doors');
    if (doors) doors.hidden = true;
    const search = this.#dialog.querySelector('[type=search]');
    if (search) search.value = '';
    this.filter('');
    for (const row of this.#rows()) mark(row, radioOf(row).value === this.#current);
    const radio = this.first;
    radio?.closest('.model-row').scrollIntoView({ block: 'center' });
    if (search && !isTouch()) search.focus();
    else radio?.focus({ preventScroll: true });
  }

  /** The chosen radio button among those that the search shows, else the first of these. */
  get first() {
    const shown = this.#shown();
    return shown.find(({ checked }) => checked) ?? shown[0];
  }

  /**
   * Show only the rows with these words in their name, maker, purpose, features or id. The bases of finetunes are
   * only found by words.
   */
  filter(words) {
    for (const row of this.#rows()) {
      const { value } = radioOf(row);
      const text = `${row.textContent} ${row.dataset.maker} ${value}`.toLowerCase();
      const isFolded = 'base' in row.dataset && !words && value !== this.#current && !this.#favourites.has(value);
      row.hidden = isFolded || (this.#only && !this.#only.includes(value)) || !matches(text, words.toLowerCase());
    }
    this.#dialog.querySelector('[data-part=blind]').open = words !== '';
    this.#report(this.#shown().length, words !== '');
  }

  /** Move the focus from the search field into the list. */
  enter() {
    if (this.first) focusOn(this.first);
  }

  /** Move by a keydown, as in a menu. */
  move(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const radios = this.#shown();
    const names = radios.map((radio) => radio.closest('.model-row').querySelector('.label').textContent);
    const next = radios[nextIndex(event.key, names, radios.indexOf(event.target))];
    if (!next) return;
    event.preventDefault();
    focusOn(next);
  }

  /** The row moves to the favourites, or back, when the picker opens again. */
  async toggleFavourite(star) {
    const model = radioOf(star.closest('.model-row')).value;
    const favourite = star.ariaPressed !== 'true';
    this.#setFavourite(star, model, favourite);
    const error = await saveChange(this.#dataset.url, { model, favourite });
    if (!error) return;
    this.#setFavourite(star, model, !favourite);
    this.#show(error, true);
  }

  #setFavourite(star, model, favourite) {
    if (favourite) this.#favourites.add(model);
    else this.#favourites.delete(model);
    star.ariaPressed = String(favourite);
  }

  get #dataset() {
    return this.#dialog.querySelector('.model-list').dataset;
  }

  #rows() {
    return Array.from(this.#dialog.querySelectorAll('.model-row'));
  }

  /** The radio buttons that the search shows, in the order of the page. */
  #shown() {
    return this.#rows().filter((row) => !row.hidden).map(radioOf).filter(({ disabled }) => !disabled);
  }

  #place() {
    const rows = Array.from(this.#places.keys());
    for (const row of rows) {
      this.#places.get(row).append(row);
      const star = row.querySelector('.star');
      if (star) star.ariaPressed = String(this.#favourites.has(radioOf(row).value));
    }
    const [favourites, recent] = ['favourites', 'recent'].map((part) => this.#dialog.querySelector(`[data-part=${part}]`));
    const blind = this.#dialog.querySelector('[data-part=blind]');
    blind.append(...rows.filter((row) => radioOf(row).disabled));
    if (!favourites) return;
    const byId = new Map(rows.map((row) => [radioOf(row).value, row]));
    for (const id of this.#dataset.recent.split(' ')) {
      if (byId.has(id) && !radioOf(byId.get(id)).disabled) recent.append(byId.get(id));
    }
    favourites.append(...rows.filter((row) => this.#favourites.has(radioOf(row).value) && !radioOf(row).disabled));
  }

  /** Tab leads from a radio button to the star of its row, not through all stars. */
  #admitStar(radio) {
    for (const row of this.#rows()) {
      const star = row.querySelector('.star');
      if (star) star.tabIndex = row.contains(radio) ? 0 : -1;
    }
  }

  /** Say how many models a search finds: visibly if it finds none, otherwise to screen readers. */
  #report(count, searched) {
    const { none, one, other } = this.#dialog.querySelector('.no-results').dataset;
    const text = { 0: none, 1: one }[count] ?? other;
    this.#show(searched || !count ? text.replace('{n}', count) : '', count === 0);
    this.#dialog.querySelector('.model-list').hidden = count === 0;
  }

  #show(text, visibly) {
    const status = this.#dialog.querySelector('.no-results');
    status.textContent = text;
    status.classList.toggle('hidden', !visibly);
  }
}

/** Return whether the text has all words. A word that begins with a digit must begin a number: 20b is not in 120b. */
export function matches(text, words) {
  return words.split(/\s+/).every((word) => contains(text, word));
}

function contains(text, word) {
  if (!/^\d/.test(word)) return text.includes(word);
  let at = text.indexOf(word);
  while (at > 0 && /[\d.]/.test(text[at - 1])) at = text.indexOf(word, at + 1);
  return at >= 0;
}

function radioOf(row) {
  return row.querySelector('[type=radio]');
}

function mark(row, current) {
  row.ariaCurrent = current ? 'true' : null;
  radioOf(row).checked = current;
}

function focusOn(radio) {
  radio.checked = true;
  radio.focus();
}
