import { addMenuButton, hrefOf, isPinned, setState, setTitle, updateItem } from './conversation_item.js';
import { glide } from './glide.js';
import { arrange, cloneTemplate, page } from './page.js';

/** The conversations of the sidebar, in the server's order and groups. */
export class ConversationList {
  root = document.getElementById('conversations');

  /** @param {() => Promise<void>} refresh  fetches the list again */
  constructor(refresh) {
    this.refresh = refresh;
    for (const item of this.root.querySelectorAll('li')) addMenuButton(item);
  }

  /** @returns {HTMLElement|null} */
  find(conversation) {
    const address = page.url('conversation', conversation);
    return this.root.querySelector(`a[href="${address}"]`)?.closest('li') ?? null;
  }

  /** Move a conversation that is new or was continued to the top of the list. */
  moveToTop(conversation, title) {
    const item = this.find(conversation) ?? this.#createItem(conversation, title);
    if (isPinned(item)) return; // pinned ones keep their order
    const first = this.root.querySelector('[data-group=today] li');
    if (first !== item) this.#rearrange(() => this.#todayGroup().prepend(item));
  }

  /** @param {string} title  which may take fewer lines than the one before */
  rename(conversation, title) {
    const item = this.find(conversation);
    if (item) this.#rearrange(() => setTitle(item, title));
  }

  /** Let `change` move items, which keep the focus. What is in view glides: a group, and within it its items. */
  #rearrange(change) {
    const all = Array.from(this.root.querySelectorAll('.group, li'), (shown) => ({ shown, top: shown.getBoundingClientRect().top }));
    keepingFocus(change);
    for (const { shown, top } of all) if (shown.isConnected && top < innerHeight) glide(shown, top);
  }

  #createItem(conversation, title) {
    const item = cloneTemplate('conversation-template');
    item.querySelector('a').href = page.url('conversation', conversation);
    setTitle(item, title);
    return item;
  }

  #todayGroup() {
    const first = this.root.querySelector('.group:not([data-group=pinned])');
    if (first?.dataset.group === 'today') return first.querySelector('ul');
    const group = cloneTemplate('group-template');
    const pinned = this.root.querySelector('[data-group=pinned]');
    if (pinned) pinned.after(group);
    else this.root.prepend(group);
    return group.querySelector('ul');
  }

  /** Mark the open conversation. */
  setCurrent(conversation) {
    document.querySelector('#sidebar [aria-current]')?.removeAttribute('aria-current');
    const item = this.find(conversation);
    if (!item) return;
    item.querySelector('a').ariaCurrent = 'page';
    setState(item, '');
  }

  /**
   * Update the list to the server's state. Known items stay as they are, and only those that another place is wanted
   * for are moved, which keeps the focus and the place in the list.
   * @param {DocumentFragment} fresh
   */
  update(fresh) {
    const tags = fresh.querySelector('template');
    tags.remove();
    updateTags(tags.content.firstElementChild);
    const known = byHref(this.root);
    const older = this.#olderThan(fresh, known);
    for (const item of older) placeInGroup(fresh, item.cloneNode(true), item.closest('.group'));
    const groups = Array.from(fresh.querySelectorAll('.group'), (group) => [groupLike(this.root, group) ?? group, group]);
    this.#rearrange(() => {
      for (const [shown, group] of groups) {
        const items = Array.from(group.querySelectorAll('li'), (item) => itemFor(known.get(hrefOf(item)), item));
        arrange(shown.querySelector('ul'), items);
      }
      const more = (older.length ? this.root : fresh).querySelectorAll('.earlier');
      arrange(this.root, [...groups.map(([shown]) => shown), fresh.querySelector('.no-conversations'), ...more]);
    });
    this.setCurrent(page.conversation);
  }

  /**
   * Return the items after the last one that the server lists, if it has more: they were
   * loaded on demand, or have slipped behind it.
   */
  #olderThan(fresh, known) {
    const listed = byHref(fresh);
    const last = known.get(Array.from(listed.keys()).at(-1));
    if (!last || !fresh.querySelector('.earlier')) return [];
    const follows = (item) => last.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_FOLLOWING;
    return Array.from(known.values()).filter((item) => !listed.has(hrefOf(item)) && !item.hidden && follows(item));
  }

  /**
   * Append older conversations, and move the open one to its place
   * among them without moving it on the screen.
   */
  appendOlder(fragment) {
    const open = this.root.querySelector('[data-apart] li');
    const before = open?.getBoundingClientRect().top;
    keepingFocus(() => this.#appendOlder(fragment, open));
    if (open) this.root.scrollTop += open.getBoundingClientRect().top - before;
  }

  #appendOlder(fragment, open) {
    this.root.querySelector('.earlier')?.remove();
    const apart = open?.closest('.group');
    apart?.remove();
    const known = byHref(this.root);
    for (const [href, item] of byHref(fragment)) {
      const listed = open && hrefOf(open) === href ? open : item;
      if (known.has(href)) continue;
      if (listed === open) item.replaceWith(open);
      else addMenuButton(item);
      placeInGroup(this.root, listed);
    }
    if (open && !open.isConnected) this.root.append(apart);
    this.root.append(...fragment.querySelectorAll('.earlier'));
  }
}

/** Update the tags, which stay open or closed. */
function updateTags(fresh) {
  const shown = document.querySelector('.sidebar-tags');
  if (shown.textContent === fresh.textContent) return; // a link may have the focus
  shown.hidden = fresh.hidden;
  shown.querySelector('ul').replaceWith(fresh.querySelector('ul'));
}

function byHref(within) {
  return new Map(Array.from(within.querySelectorAll('li'), (item) => [hrefOf(item), item]));
}

/** Return the item to show for one of the server's: the known one, updated, or its own. */
function itemFor(known, fresh) {
  if (known) updateItem(known, fresh);
  else addMenuButton(fresh);
  return known ?? fresh;
}

/** @returns {HTMLElement|null} the group of the same kind in a list */
function groupLike(root, { dataset: { group, apart } }) {
  return root.querySelector(`.group[data-group="${group}"]${apart === undefined ? ':not([data-apart])' : '[data-apart]'}`);
}

/** Append an item to its group, which is created if it is missing. */
function placeInGroup(root, item, from = item.closest('.group')) {
  let group = groupLike(root, from);
  if (!group) {
    group = from.cloneNode();
    group.append(from.querySelector('h3').cloneNode(true), document.createElement('ul'));
    const earlier = root.querySelector('.earlier');
    if (earlier) earlier.before(group);
    else root.append(group);
  }
  group.querySelector('ul').append(item);
}

/** Keep the focus while `change` moves items. */
function keepingFocus(change) {
  const focused = document.activeElement;
  change();
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
}
