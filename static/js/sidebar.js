import { fetchPart } from './api.js';
import { conversationOf, isArchived, isPinned, itemTitle, labelArrangement, setState, titleFromQuestion } from './conversation_item.js';
import { ConversationList } from './conversation_list.js';
import { drafts } from './drafts.js';
import { addListKeys, focusLatest } from './list_keys.js';
import { cloneTemplate, page } from './page.js';
import { fold, onDrawerToggle } from './sidebar_fold.js';
import { tellTabs } from './tabs.js';

const REFRESH_MS = 5_000; // minimum between two updates, only while the page is visible
const SOON_MS = 200; // several changes are shown by one update
const LOAD_MARGIN = '300px'; // the list loads more at this distance from its end
const FORMS = [['rename', 'rename'], ['delete', 'delete'], ['instruct', 'settings'], ['export', 'export'], ['share', 'share']]; // ids of the forms, and the names of their URLs

/**
 * The conversations beside the thread, kept in step with the server, and what is done with them there and in the
 * header. Loaded when it is first used.
 */
export class Sidebar {
  #list = new ConversationList(() => this.#refresh());
  #element = document.getElementById('sidebar');
  #menuItem = null; // the item whose options are open
  #timer = 0;
  #soon = 0;
  #refreshes = 0; // started so far
  #refreshedAt = -REFRESH_MS;
  #unseen; // true if the open conversation has a finished reply that was not seen yet

  constructor() {
    this.#element.addEventListener('toggle', () => onDrawerToggle(this.#element));
    onDrawerToggle(this.#element);
    addListKeys(this.#list.root);
    this.#labelHeaderMenu();
    if (document.querySelector('#toast form')) offerUndo();
    this.#unseen = this.#list.root.querySelector('[data-unseen]') !== null;
    this.#watchListEnd();
    addEventListener('pageshow', ({ persisted }) => persisted && this.onVisibilityChange());
    this.#markSeen();
    this.#scheduleRefresh();
  }

  /**
   * Do what a `[data-opens]` or a shortcut names.
   * @param {HTMLElement} opener  the element that was clicked, or that has the focus
   */
  act(name, opener) {
    const actions = {
      models: () => import('./model_picker.js').then(({ openModelPicker }) => openModelPicker(opener)),
      settings: () => import('./conversation_settings.js').then(({ openSettings }) => openSettings()),
      preferences: () => import('./settings_dialog.js').then(({ openSettings }) => openSettings()).catch(() => location.assign(opener.href)),
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
      share: () => import('./share_dialog.js').then(({ openShare }) => openShare(opener.form), () => opener.form.submit()),
      undo: () => loadChanges().then((changes) => changes.undo(this.#list, opener.form)),
      fold: () => fold(this.#element),
      latest: () => focusLatest(),
      'new-chat': () => location.assign(page.url('home')),
      composer: () => document.getElementById('content').focus(),
    };
    return actions[name]();
  }

  /** Add a new conversation, which has its address and its title now. */
  addConversation(conversation, question) {
    const title = titleFromQuestion(question);
    if (!page.temporary) {
      this.#list.moveToTop(conversation, title);
      this.#list.setCurrent(conversation);
      this.showTitle(conversation, title);
    }
    for (const [id, name] of FORMS) {
      const form = document.getElementById(id); // the form to share is missing where sharing is off
      if (form) form.action = page.url(name, conversation);
    }
    document.getElementById('system').setAttribute('form', 'instruct');
    document.getElementById('share-button')?.removeAttribute('hidden');
    drafts.save('system', '');
  }

  /** Show a conversation's title in the list and, if that is open, in the header and on the tab. */
  showTitle(conversation, title) {
    this.#list.rename(conversation, title);
    if (conversation !== page.conversation) return;
    const [mark] = document.title.match(/^(● )?/); // of ready_mark.js
    document.title = mark + page.tabTitle(title);
    heading().textContent = title;
    document.getElementById('rename').elements.title.value = title;
  }

  /** @param {''|'replying'} state  '': the reply has ended, and counts as seen once the page is visible */
  setMark(conversation, state) {
    const item = this.#list.find(conversation);
    if (state && item) this.#list.moveToTop(conversation);
    if (item && conversation !== page.conversation) setState(item, state);
    this.#unseen = !state && conversation === page.conversation;
    this.#markSeen();
  }

  /** Tell the server that the reply was seen. A GET changes nothing, so it needs this request. */
  #markSeen() {
    if (!this.#unseen || document.hidden) return;
    this.#unseen = false;
    // A failure is not shown: the mark stays until the next time.
    page.post(page.url('seen', page.conversation), {}, { keepalive: true }).catch(() => {});
  }

  /** Update after the page became visible or hidden. */
  onVisibilityChange() {
    this.#markSeen();
    if (!document.hidden && Date.now() - this.#refreshedAt >= REFRESH_MS) this.#refresh();
    else this.#scheduleRefresh();
  }

  /** Update the list after a change in another tab. A hidden page does so when it is shown. */
  refreshSoon() {
    if (document.hidden) {
      this.#refreshedAt = -REFRESH_MS;
      return;
    }
    this.#soon ||= setTimeout(() => {
      this.#soon = 0;
      this.#refresh();
    }, SOON_MS);
  }

  async #refresh() {
    this.#refreshedAt = Date.now();
    const refresh = ++this.#refreshes;
    const fresh = await fetchPart(page.url('list')).catch(() => null);
    if (refresh !== this.#refreshes) return; // a later one shows more
    // A box in which a title is being edited stays in place.
    if (fresh && !this.#list.root.querySelector('.rename')) this.#list.update(fresh);
    this.#scheduleRefresh();
  }

  #scheduleRefresh() {
    clearTimeout(this.#timer);
    const isReplying = this.#list.root.querySelector('li[data-state=replying]') !== null;
    if (!document.hidden && isReplying) this.#timer = setTimeout(() => this.#refresh(), REFRESH_MS);
  }

  /** Load older conversations when the end of the list comes near. */
  #watchListEnd() {
    const { root } = this.#list;
    const seen = new IntersectionObserver((entries) => this.#loadOlder(entries), { root, rootMargin: LOAD_MARGIN });
    const watch = () => root.querySelectorAll('.earlier').forEach((link) => seen.observe(link));
    new MutationObserver(watch).observe(root, { childList: true });
    watch();
  }

  async #loadOlder(entries) {
    const link = entries.find(({ isIntersecting }) => isIntersecting)?.target;
    if (!link || link.ariaBusy) return;
    link.ariaBusy = 'true';
    const older = await fetchPart(link.href).catch(() => null);
    link.ariaBusy = null;
    if (older && link.isConnected) this.#list.appendOlder(older);
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
    return this.#rename(page.conversation, heading(), heading().textContent);
  }

  /** @param {HTMLElement} shown  where the title is edited */
  async #rename(conversation, shown, title) {
    const { rename } = await loadChanges();
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
}

/** Return the button in the heading. A new chat's heading has none, because there is nothing to rename, so create it. */
function heading() {
  if (!document.getElementById('title')) document.querySelector('h1').replaceChildren(cloneTemplate('title-template'));
  return document.getElementById('title');
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
