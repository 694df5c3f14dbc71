import { isSendKey } from './composer.js';
import { arrange, cloneTemplate } from './page.js';

const ICONS = { picture: '🖼', document: '📄' };

/** The list of the queued messages above the message box. */
export class QueueList {
  #root = null;
  #act;

  /** @param {(action: string, key?: string, text?: string) => void} act  gets the `data-do` of a button, or 'draft' */
  constructor(act) {
    this.#act = act;
  }

  /** The sentence about the queue that is shown above its messages. */
  get stateText() {
    return this.#root.querySelector('#queue-state').textContent;
  }

  /** @returns {boolean} whether an element that had the focus is gone */
  render(items, held) {
    const hadFocus = this.#root?.contains(document.activeElement);
    if (items.length) this.#root ??= this.#createRoot();
    if (!this.#root) return false;
    this.#root.hidden = !items.length;
    this.#renderState(held);
    this.#renderRows(items);
    return hadFocus && !this.#root.contains(document.activeElement);
  }

  focusEditor(key) {
    this.#rowOf(key).querySelector('textarea').focus();
  }

  focusEditButton(key) {
    this.#rowOf(key)?.querySelector('[data-do=edit]').focus();
  }

  #createRoot() {
    const root = cloneTemplate('queue-template');
    root.addEventListener('click', ({ target }) => this.#onClick(target.closest('[data-do]')));
    document.getElementById('notice').before(root);
    return root;
  }

  #renderState(held) {
    const state = this.#root.querySelector('#queue-state');
    const text = state.dataset[held ? 'held' : 'waiting'];
    if (state.textContent !== text) state.textContent = text;
    this.#root.querySelector('[data-do=send]').hidden = !held;
  }

  /** Keep the rows that stay the same, and with them the focus. */
  #renderRows(items) {
    const list = this.#root.querySelector('ol');
    const known = new Map(Array.from(list.children, (row) => [row.dataset.key, row]));
    arrange(list, items.map((item) => (isShown(known.get(item.key), item) ? known.get(item.key) : this.#createRow(item))));
  }

  #createRow(item) {
    const isEdited = item.draft !== undefined;
    const row = cloneTemplate(isEdited ? 'queue-edit-template' : 'queue-row-template');
    row.dataset.key = item.key;
    if (item.attachments) row.dataset.attachments = item.attachments.length;
    if (isEdited) this.#setUpEditor(row.querySelector('textarea'), item);
    else row.querySelector('[data-part=text]').textContent = textOf(item);
    return row;
  }

  #setUpEditor(box, { key, draft }) {
    box.value = draft;
    box.addEventListener('input', () => this.#act('draft', key, box.value));
    box.addEventListener('keydown', (event) => this.#onKeydown(event, box));
  }

  #onKeydown(event, box) {
    const isCancel = event.key === 'Escape' && !event.isComposing;
    if (!isCancel && !isSendKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) this.#onClick(box.closest('li').querySelector(isCancel ? '[data-do=cancel]' : '[data-do=save]'));
  }

  #rowOf(key) {
    return this.#root.querySelector(`[data-key="${key}"]`);
  }

  #onClick(button) {
    const row = button?.closest('li');
    const key = row?.dataset.key;
    const action = button?.dataset.do;
    if (action === 'save') this.#save(key, row.querySelector('textarea'));
    else if (action) this.#act(action, key);
  }

  #save(key, box) {
    if (box.value.trim() || this.#rowOf(key).dataset.attachments) this.#act('save', key, box.value);
    else box.focus();
  }
}

/** @returns {string} what a row shows: the text, and an icon for each attachment */
function textOf({ text, attachments = [] }) {
  return [text, attachments.map(({ kind }) => ICONS[kind]).join('')].filter(Boolean).join(' ');
}

/** Return whether a row shows this message in its present state. */
function isShown(row, item) {
  if (!row) return false;
  const box = row.querySelector('textarea');
  return item.draft === undefined ? !box && row.querySelector('[data-part=text]').textContent === textOf(item) : Boolean(box);
}
