import { isArchived, isPinned, itemTitle, labelArrangement, setTitle } from './conversation_item.js';

const YEAR_SECONDS = 31_536_000; // seconds
const WIDE_QUERY = '(width >= 52rem)'; // as in chat.css: the sidebar stands beside the thread

/** The actions on conversations, from the sidebar and from the header. */
export class ConversationActions {
  #page;
  #list;
  #refresh;
  #deletion = null;
  #arrangement = null;
  #menuItem = null; // the item whose options are open
  #sidebar = document.getElementById('sidebar');

  /**
   * @param {import('./page.js').Page} page
   * @param {import('./conversation_list.js').ConversationList} list
   * @param {() => Promise<void>} refresh  fetches the list again
   */
  constructor(page, list, refresh) {
    this.#page = page;
    this.#list = list;
    this.#refresh = refresh;
    this.#sidebar.addEventListener('toggle', () => this.#onDrawerToggle());
    this.#onDrawerToggle();
    this.#labelHeaderMenu();
    if (document.querySelector('#toast form')) this.#offerUndo();
  }

  /** @param {HTMLElement} [opener]  the element that was clicked, or that has the focus */
  open(name, opener) {
    const actions = {
      models: () => import('./model_picker.js').then(({ openModelPicker }) => openModelPicker(this.#page)),
      settings: () => import('./conversation_settings.js').then(({ openSettings }) => openSettings(this.#page)),
      options: () => this.#openMenu(opener),
      account: () => openPopup('account', opener),
      search: () => import('./search.js').then(({ openSearch }) => openSearch(document.querySelector('[data-opens=search]'))),
      shortcuts: () => import('./shortcuts.js').then(({ openShortcuts }) => openShortcuts(document.querySelector('[data-opens=shortcuts]'))),
      rename: () => this.#rename(opener.closest('#conversations li') ?? this.#closeMenu()),
      title: () => this.#renameOpen(),
      delete: () => this.#delete(opener),
      pin: () => this.#arrange(opener, (arrangement, conversation) => arrangement.pin(conversation, opener.value)),
      archive: () => this.#arrange(opener, (arrangement, conversation) => arrangement.archive(conversation, opener.value)),
      tags: () => this.#arrange(opener, (arrangement, conversation) => arrangement.openTags(conversation)),
      undo: () => this.#loadDeletion().then((deletion) => deletion.undo(opener.form)),
      fold: () => this.#fold(),
      'new-chat': () => location.assign(this.#page.url('home')),
      composer: () => document.getElementById('content').focus(),
    };
    return actions[name]();
  }

  /** Show a conversation's title in the list and, if that is open, in the header and on the tab. */
  showTitle(conversation, title) {
    const item = this.#list.find(conversation);
    if (item) setTitle(this.#page, item, title);
    if (conversation !== this.#page.conversation) return;
    document.title = title;
    this.#heading().textContent = title;
    document.getElementById('rename').elements.title.value = title;
  }

  /**
   * Return the button in the heading. A new chat's heading has none,
   * because there is nothing to rename, so create it.
   */
  #heading() {
    const existing = document.getElementById('title');
    if (existing) return existing;
    const created = document.getElementById('title-template').content.firstElementChild.cloneNode(true);
    document.querySelector('h1').replaceChildren(created);
    return created;
  }

  #openMenu(button) {
    this.#menuItem = button.closest('li');
    labelArrangement(document.getElementById('options'), { pinned: isPinned(this.#menuItem), archived: false });
    return openPopup('options', button);
  }

  #closeMenu() {
    document.getElementById('options').hidePopover();
    return this.#menuItem;
  }

  async #rename(item) {
    const link = item.querySelector('a');
    const { rename } = await import('./rename.js');
    const conversation = conversationOf(item);
    const title = itemTitle(item);
    this.#onRenamed(conversation, title, await rename({ page: this.#page, conversation, shown: link, title }));
  }

  async #renameOpen() {
    const { rename } = await import('./rename.js');
    document.getElementById('menu').hidePopover();
    const { conversation } = this.#page;
    const shown = this.#heading();
    const title = shown.textContent;
    this.#onRenamed(conversation, title, await rename({ page: this.#page, conversation, shown, title }));
  }

  #onRenamed(conversation, title, newTitle) {
    if (newTitle === title) return;
    this.showTitle(conversation, newTitle);
    this.#list.notifyTabs();
  }

  async #delete(opener) {
    const byKeyboard = opener.matches(':focus-visible');
    const inList = opener.closest('#options') !== null;
    const conversation = inList ? conversationOf(this.#closeMenu()) : this.#page.conversation;
    const deletion = await this.#loadDeletion();
    return deletion.remove(conversation, byKeyboard);
  }

  /** Let the header's menu say, whenever it opens, what its buttons do next. */
  #labelHeaderMenu() {
    const menu = document.getElementById('menu');
    if (this.#page.temporary) return; // it is in no list
    const label = () => labelArrangement(menu, { pinned: isPinned(this.#list.find(this.#page.conversation)), archived: isArchived() });
    menu.addEventListener('beforetoggle', label);
    label(); // the menu may be open already
  }

  /** Close the menu that holds `opener`, and arrange the conversation that the menu is about. */
  async #arrange(opener, act) {
    const conversation = opener.closest('#options') ? conversationOf(this.#closeMenu()) : this.#page.conversation;
    document.getElementById('menu').hidePopover();
    const deletion = await this.#loadDeletion();
    const { ConversationArrangement } = await import('./arrange_conversation.js');
    this.#arrangement ??= new ConversationArrangement(this.#page, this.#list, deletion.toast, this.#refresh);
    return act(this.#arrangement, conversation);
  }

  #loadDeletion() {
    const create = ({ ConversationDeletion }) => new ConversationDeletion(this.#page, this.#list, this.#refresh);
    return (this.#deletion ??= import('./delete_conversation.js').then(create));
  }

  /**
   * Remove the query from the address: the page was opened with the offer to undo a deletion, which a reload
   * need not repeat.
   */
  #offerUndo() {
    history.replaceState(null, '', location.pathname);
    this.#loadDeletion();
  }

  /**
   * Fold or unfold the sidebar where it was opened as a drawer on a wide page. It is a drawer on narrow pages
   * only; on a wide page it stands beside the thread or is folded.
   */
  #onDrawerToggle() {
    if (!matchMedia(WIDE_QUERY).matches || !this.#sidebar.matches(':popover-open')) return;
    this.#sidebar.hidePopover();
    this.#fold();
  }

  #fold() {
    if (!matchMedia(WIDE_QUERY).matches) return this.#sidebar.togglePopover();
    const folded = document.body.classList.toggle('folded');
    document.cookie = `sidebar=${folded ? 'folded' : ''};path=/;max-age=${folded ? YEAR_SECONDS : 0};samesite=lax`;
    const mayMoveFocus = document.activeElement === document.body || this.#sidebar.contains(document.activeElement);
    if (folded && mayMoveFocus) document.querySelector('.sidebar-toggle').focus();
    else if (!folded && document.activeElement.matches('.sidebar-toggle, body')) this.#sidebar.querySelector('.fold').focus();
  }
}

async function openPopup(id, button) {
  const { openMenu } = await import('./popup_menu.js');
  openMenu(document.getElementById(id), button);
}

function conversationOf(item) {
  return item.querySelector('a').pathname.split('/').at(-2);
}
