import { postJson } from './api.js';
import { setArchived } from './conversation_item.js';
import { cloneTemplate } from './page.js';

/** Pins and archives a conversation, and opens its tags, from its menu. */
export class ConversationArrangement {
  #page;
  #list;
  #toast;
  #refresh;

  /**
   * @param {import('./page.js').Page} page
   * @param {import('./conversation_list.js').ConversationList} list
   * @param {import('./toast.js').Toast} toast
   * @param {() => Promise<void>} refresh  fetches the list again
   */
  constructor(page, list, toast, refresh) {
    this.#page = page;
    this.#list = list;
    this.#toast = toast;
    this.#refresh = refresh;
  }

  /** @param {'pin'|'unpin'} action */
  async pin(conversation, action) {
    if (await this.#change(action, conversation)) this.#focus(conversation);
  }

  /** @param {'archive'|'unarchive'} action */
  async archive(conversation, action) {
    const changed = await this.#change(action, conversation);
    if (!changed) return;
    const form = cloneTemplate('deleted-template');
    form.querySelector('p').textContent = changed.message;
    delete form.querySelector('button').dataset.opens; // in the template it names the undo of a deletion
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#toast.close();
      this.#undoArchive(conversation, action, changed.undo);
    });
    this.#toast.show(form, { onClose: () => document.getElementById('content').focus() });
  }

  async openTags(conversation) {
    const { openTags } = await import('./tags_dialog.js');
    return openTags(this.#page, conversation, () => this.#onTagged());
  }

  #onTagged() {
    this.#list.notifyTabs();
    this.#refresh();
  }

  /** Undo it with the server's token: a pinned conversation is pinned again, in its former place. */
  async #undoArchive(conversation, action, undo) {
    const archived = action !== 'archive';
    if (await this.#send({ action: 'undo', undo }, conversation, archived)) this.#focus(conversation);
  }

  #focus(conversation) {
    this.#list.find(conversation)?.querySelector('a').focus({ preventScroll: true });
  }

  #change(action, conversation) {
    // A pinned conversation is not in the archive, and only one that is not there can be unpinned.
    return this.#send({ action, conversations: [conversation] }, conversation, action === 'archive');
  }

  /** @returns {Promise<object|null>} the server's JSON; null: it failed, and the toast says why */
  async #send(body, conversation, archived) {
    const { data, error } = await postJson(this.#page, this.#page.url('list'), body);
    if (error) this.#toast.show(error.message || this.#page.text('not-saved'));
    if (error) return null;
    this.#list.notifyTabs();
    if (conversation === this.#page.conversation) setArchived(archived);
    await this.#refresh();
    return data;
  }
}
