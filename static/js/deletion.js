import { titleOf } from './item.js';
import { save } from './saving.js';
import { Toast } from './toast.js';
import { copy } from './transcript.js';

/** Deleting, and taking that back as long as the toast stays. */
export class Deletion {
  #page;
  #list;
  #toast = new Toast();
  #refresh;
  #removed = ''; // the conversation that was deleted on this page last

  /**
   * @param {import('./transcript.js').Page} page
   * @param {import('./list.js').List} list
   * @param {() => Promise<void>} refresh  brings the list up to date
   */
  constructor(page, list, refresh) {
    this.#page = page;
    this.#list = list;
    this.#refresh = refresh;
  }

  /** The open conversation gives way to an empty page, which still offers to take it back. */
  async remove(conversation, byKeyboard) {
    const here = conversation === this.#page.conversation;
    const item = this.#list.find(conversation);
    if (!here) item.hidden = true;
    const trouble = await save(this.#page, this.#page.url('delete', conversation));
    if (!trouble && here) return location.assign(`${this.#page.url('home')}?deleted=${conversation}`);
    if (!trouble) return this.#offer(conversation, item, byKeyboard);
    if (item) item.hidden = false;
    this.#toast.show(trouble);
  }

  #offer(conversation, item, byKeyboard) {
    this.#removed = conversation;
    const form = copy('deleted-template');
    form.action = this.#page.url('undelete', conversation);
    form.querySelector('[data-part=title]').textContent = titleOf(item);
    const focus = byKeyboard ? form.querySelector('button') : undefined;
    this.#toast.show(form, { focus, left: () => neighbour(item)?.focus() });
  }

  async undo(form) {
    const trouble = await save(this.#page, form.action);
    if (trouble) return this.#toast.show(trouble);
    const conversation = new URL(form.action).pathname.split('/').at(-3);
    if (conversation !== this.#removed) return location.assign(this.#page.url('conversation', conversation));
    const item = this.#list.find(conversation);
    if (item) item.hidden = false;
    else await this.#refresh();
    this.#toast.close();
    this.#list.find(conversation)?.querySelector('a').focus();
  }
}

/** The next one that is there, or the one before; else what makes a new one. */
function neighbour(item) {
  const items = Array.from(document.querySelectorAll('#conversations li:not([hidden])'));
  const follows = (other) => item.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const found = items.find(follows) ?? items.at(-1);
  return (found ?? document.querySelector('.top')).querySelector('a');
}
