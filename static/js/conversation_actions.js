import { isArchived, isPinned, itemTitle, labelArrangement, setTitle } from './conversation_item.js';
import { page } from './page.js';
import { tellTabs } from './tabs.js';

const YEAR_SECONDS = 31_536_000; // seconds
const WIDE_QUERY = '(width >= 52rem)'; // as in chat.css: the sidebar stands beside the thread

/** The actions on conversations, from the sidebar and from the header. */
export class ConversationActions {
  #list;
  #menuItem = null; // the item whose options are open
  #sidebar = document.getElementById('sidebar');

  /** @param {import('./conversation_list.js').ConversationList} list */
  constructor(list) {
    this.#list = list;
    this.#sidebar.addEventListener('toggle', () => this.#onDrawerToggle());
    this.#onDrawerToggle();
    this.#labelHeaderMenu();
    if (document.querySelector('#toast form')) offerUndo();
  }

  /** @param {HTMLElement} [opener]  the element that was clicked, or that has the focus */
  open(name, opener) {
    const actions = {
      models: () => import('./model_picker.js').then(({ openModelPicker }) => openModelPicker()),
      settings: () => import('./conversation_settings.js').then(({ openSettings }) => openSettings()),
      options: () => this.#openMenu(opener),
      account: () => openPopup('account', opener),
      search: () => import('./search.js').then(({ openSearch }) => openSearch(document.querySelector('[data-opens=search]'))),
      shortcuts: () => import('./dialogs.js').then(({ openShortcuts }) => openShortcuts(document.querySelector('[data-opens=shortcuts]'))),
      rename: () => this.#renameItem(opener.closest('#conversations li') ?? this.#closeMenu()),
      title: () => this.#renameOpen(),
      delete: () => this.#change('remove', opener),
      pin: () => this.#change('pin', opener),
      archive: () => this.#change('archive', opener),
      tags: () => this.#change('tags', opener),
      undo: () => loadChanges().then((changes) => changes.undo(this.#list, opener.form)),
      fold: () => this.#fold(),
      'new-chat': () => location.assign(page.url('home')),
      composer: () => document.getElementById('content').focus(),
    };
    return actions[name]();
  }

  /** Show a conversation's title in the list and, if that is open, in the header and on the tab. */
  showTitle(conversation, title) {
    const item = this.#list.find(conversation);
    if (item) setTitle(item, title);
    if (conversation !== page.conversation) return;
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

  #renameItem(item) {
    return this.#rename(conversationOf(item), item.querySelector('a'), itemTitle(item));
  }

  #renameOpen() {
    document.getElementById('menu').hidePopover();
    const shown = this.#heading();
    return this.#rename(page.conversation, shown, shown.textContent);
  }

  /** @param {HTMLElement} shown  where the title is edited */
  async #rename(conversation, shown, title) {
    const { rename } = await import('./rename.js');
    const newTitle = await rename({ conversation, shown, title });
    if (newTitle === title) return;
    this.showTitle(conversation, newTitle);
    tellTabs('');
  }

  /** Close the menu that holds `opener`, and change the conversation that the menu is about. */
  async #change(name, opener) {
    const byKeyboard = opener.matches(':focus-visible');
    const conversation = opener.closest('#options') ? conversationOf(this.#closeMenu()) : page.conversation;
    document.getElementById('menu').hidePopover();
    const changes = await loadChanges();
    return changes[name](this.#list, conversation, opener, byKeyboard);
  }

  /** Let the header's menu say, whenever it opens, what its buttons do next. */
  #labelHeaderMenu() {
    const menu = document.getElementById('menu');
    if (page.temporary) return; // it is in no list
    const label = () => labelArrangement(menu, { pinned: isPinned(this.#list.find(page.conversation)), archived: isArchived() });
    menu.addEventListener('beforetoggle', label);
    label(); // the menu may be open already
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

function loadChanges() {
  return import('./conversation_changes.js');
}

/**
 * Remove the query from the address: the page was opened with the offer to undo a deletion, which a reload
 * need not repeat.
 */
function offerUndo() {
  history.replaceState(null, '', location.pathname);
  loadChanges(); // its toast closes after a time
}

async function openPopup(id, button) {
  const { openMenu } = await import('./popup_menu.js');
  openMenu(document.getElementById(id), button);
}

function conversationOf(item) {
  return item.querySelector('a').pathname.split('/').at(-2);
}
