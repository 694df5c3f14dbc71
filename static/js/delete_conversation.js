import { saveChange } from './api.js';
import { itemTitle } from './conversation_item.js';
import { cloneTemplate } from './page.js';
import { Toast } from './toast.js';

/** Deletes a conversation, and restores it as long as the toast is shown. */
export class ConversationDeletion {
  toast = new Toast();
  #page;
  #list;
  #refresh;
  #lastDeleted = ''; // the conversation that was last deleted on this page

  /**
   * @param {import('./page.js').Page} page
   * @param {import('./conversation_list.js').ConversationList} list
   * @param {() => Promise<void>} refresh  fetches the list again
   */
  constructor(page, list, refresh) {
    this.#page = page;
    this.#list = list;
    this.#refresh = refresh;
  }

  /** Delete a conversation. If it is the open one, an empty page follows, which still offers to undo that. */
  async remove(conversation, byKeyboard) {
    const isOpen = conversation === this.#page.conversation;
    const item = this.#list.find(conversation);
    if (!isOpen) item.hidden = true;
    const error = await saveChange(this.#page, this.#page.url('delete', conversation));
    if (!error) this.#list.notifyTabs();
    if (!error && isOpen) return location.assign(`${this.#page.url('home')}?deleted=${conversation}`);
    if (!error) return this.#offerUndo(conversation, item, byKeyboard);
    if (item) item.hidden = false;
    this.toast.show(error);
  }

  #offerUndo(conversation, item, byKeyboard) {
    this.#lastDeleted = conversation;
    const form = cloneTemplate('deleted-template');
    form.action = this.#page.url('undelete', conversation);
    form.querySelector('[data-part=title]').textContent = itemTitle(item);
    const focus = byKeyboard ? form.querySelector('button') : undefined;
    this.toast.show(form, { focus, onClose: () => nextLink(item)?.focus() });
  }

  async undo(form) {
    const error = await saveChange(this.#page, form.action);
    if (error) return this.toast.show(error);
    this.#list.notifyTabs();
    const conversation = new URL(form.action).pathname.split('/').at(-3);
    if (conversation !== this.#lastDeleted) return location.assign(this.#page.url('conversation', conversation));
    const item = this.#list.find(conversation);
    if (item) item.hidden = false;
    else await this.#refresh();
    this.toast.close();
    this.#list.find(conversation)?.querySelector('a').focus();
  }
}

/** Return the link of the next conversation in the list, else of the last, else the link to a new chat. */
function nextLink(item) {
  const items = Array.from(document.querySelectorAll('#conversations li:not([hidden])'));
  const follows = (other) => item.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const found = items.find(follows) ?? items.at(-1);
  return (found ?? document.querySelector('.sidebar-header')).querySelector('a');
}
