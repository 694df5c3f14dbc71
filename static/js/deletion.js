import { titleOf } from './item.js';
import { save } from './saving.js';
import { Toast } from './toast.js';
import { copy } from './transcript.js';

/** Deletes a conversation, and restores it as long as the toast is shown. */
export class Deletion {
  #page;
  #list;
  #toast = new Toast();
  #refresh;
  #removed = ''; // the conversation that was last deleted on this page

  /**
   * @param {import('./transcript.js').Page} page
   * @param {import('./list.js').List} list
   * @param {() => Promise<void>} refresh  fetches the list again
   */
  constructor(page, list, refresh) {
    this.#page = page;
    this.#list = list;
    this.#refresh = refresh;
  }

  /** Delete a conversation. If it is the open one, an empty page follows, which still offers to undo that. */
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

/** Return the link of the next conversation in the list, else of the last, else the link to a new chat. */
function neighbour(item) {
  const items = Array.from(document.querySelectorAll('#conversations li:not([hidden])'));
  const follows = (other) => item.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const found = items.find(follows) ?? items.at(-1);
  return (found ?? document.querySelector('.top')).querySelector('a');
}
