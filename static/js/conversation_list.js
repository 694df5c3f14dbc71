import { addMenuButton, hrefOf, isPinned, itemTitle, setState, setTitle, showWhole, updateItem } from './conversation_item.js';
import { cloneTemplate, page } from './page.js';

/** The conversations of the sidebar, in the server's order and groups. */
export class ConversationList {
  root = document.getElementById('conversations');

  /** @param {() => Promise<void>} refresh  fetches the list again */
  constructor(refresh) {
    this.refresh = refresh;
    for (const item of this.root.querySelectorAll('li')) addMenuButton(item);
    this.root.addEventListener('pointerover', ({ target }) => target.matches('li > a') && showWhole(target, itemTitle(target.parentElement)));
  }

  /** @returns {HTMLElement|null} */
  find(conversation) {
    const address = page.url('conversation', conversation);
    return this.root.querySelector(`a[href="${address}"]`)?.closest('li') ?? null;
  }

  get hasReplying() {
    return this.root.querySelector('li[data-state=replying]') !== null;
  }

  /** Move a conversation that is new or was continued to the top of the list. */
  moveToTop(conversation, title) {
    const item = this.find(conversation) ?? this.#createItem(conversation, title);
    if (isPinned(item)) return; // pinned ones keep their order
    const today = this.#todayGroup();
    if (today.firstElementChild !== item) keepingFocus(() => today.prepend(item));
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
   * Update the list to the server's state. If only titles and marks changed, nothing moves; otherwise known
   * items are moved as they are, which keeps the focus and the place in the list.
   * @param {DocumentFragment} fresh
   */
  update(fresh) {
    const tags = fresh.querySelector('template');
    tags.remove();
    updateTags(tags.content.firstElementChild);
    const more = fresh.querySelector('.earlier') !== null;
    if (isSameOrder(outline(this.root), outline(fresh), more)) this.#updateItems(fresh);
    else keepingFocus(() => this.#rebuild(fresh, more));
  }

  #updateItems(fresh) {
    const known = byHref(this.root);
    for (const [href, item] of byHref(fresh)) updateItem(known.get(href), item);
  }

  #rebuild(fresh, more) {
    const known = byHref(this.root);
    const wanted = byHref(fresh);
    const older = more ? this.#itemsAfter(known.get(Array.from(wanted.keys()).at(-1)), wanted) : [];
    if (older.length) fresh.querySelector('.earlier').replaceWith(...this.root.querySelectorAll('.earlier'));
    for (const [href, item] of wanted) this.#reuse(known.get(href), item);
    for (const item of older) placeInGroup(fresh, item);
    const top = this.root.scrollTop;
    this.root.replaceChildren(fresh);
    this.root.scrollTop = top;
    this.setCurrent(page.conversation);
  }

  #reuse(known, fresh) {
    if (!known) return addMenuButton(fresh);
    updateItem(known, fresh);
    fresh.replaceWith(known);
  }

  /**
   * Return the items after the last one that the server lists: they were
   * loaded on demand, or have slipped behind it.
   */
  #itemsAfter(last, wanted) {
    if (!last) return [];
    const follows = (item) => last.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_FOLLOWING;
    const items = Array.from(this.root.querySelectorAll('li'));
    return items.filter((item) => !wanted.has(hrefOf(item)) && follows(item));
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

/** @returns {string[]} the groups and the addresses of their items, in their order */
function outline(within) {
  const nodes = Array.from(within.querySelectorAll('.group, li:not([hidden])'));
  return nodes.map((node) => node.dataset.group ?? hrefOf(node));
}

/**
 * Return whether the server's list is the shown one, or its beginning if the server has more.
 * @param {string[]} shown
 * @param {string[]} fresh
 */
export function isSameOrder(shown, fresh, more) {
  const isLongEnough = more ? shown.length >= fresh.length : shown.length === fresh.length;
  return isLongEnough && fresh.every((each, n) => each === shown[n]);
}

/** Append an item to its group, which is created if it is missing. */
function placeInGroup(root, item) {
  const from = item.closest('.group');
  const kind = from.dataset.apart === undefined ? ':not([data-apart])' : '[data-apart]';
  let group = root.querySelector(`.group[data-group="${from.dataset.group}"]${kind}`);
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
