import { addressOf, furnish, refresh, setState, setTitle } from './item.js';
import { copy } from './transcript.js';

/** The conversations of the sidebar, in the server's order and groups. */
export class List {
  root = document.getElementById('conversations');
  #page;

  /** @param {import('./transcript.js').Page} page */
  constructor(page) {
    this.#page = page;
    for (const item of this.root.querySelectorAll('li')) furnish(page, item);
  }

  /** @returns {HTMLElement|null} */
  find(conversation) {
    const address = this.#page.url('conversation', conversation);
    return this.root.querySelector(`a[href="${address}"]`)?.closest('li') ?? null;
  }

  get replying() {
    return this.root.querySelector('li[data-state=replying]') !== null;
  }

  /** Move a conversation that is new or goes on to the top of the list. */
  raise(conversation, title) {
    const item = this.find(conversation) ?? this.#made(conversation, title);
    const today = this.#today();
    if (today.firstElementChild !== item) keepingFocus(() => today.prepend(item));
  }

  #made(conversation, title) {
    const item = copy('conversation-template');
    item.querySelector('a').href = this.#page.url('conversation', conversation);
    setTitle(this.#page, item, title);
    return item;
  }

  #today() {
    const first = this.root.querySelector('.group');
    if (first?.dataset.group === 'today') return first.querySelector('ul');
    const group = copy('group-template');
    this.root.prepend(group);
    return group.querySelector('ul');
  }

  /** Mark the open conversation. */
  point(conversation) {
    document.querySelector('#sidebar [aria-current]')?.removeAttribute('aria-current');
    const item = this.find(conversation);
    if (!item) return;
    item.querySelector('a').ariaCurrent = 'page';
    setState(this.#page, item, '');
  }

  /**
   * Update the list to the server's state. If only titles and marks changed, nothing moves; otherwise known
   * items are moved as they are, which keeps the focus and the place in the list.
   * @param {DocumentFragment} fresh
   */
  update(fresh) {
    const [before, after] = [outline(this.root), outline(fresh)];
    const more = fresh.querySelector('.earlier') !== null;
    if (before === after || (more && before.startsWith(`${after} `))) this.#patch(fresh);
    else keepingFocus(() => this.#rebuild(fresh, more));
  }

  #patch(fresh) {
    const known = byAddress(this.root);
    for (const [address, item] of byAddress(fresh)) refresh(this.#page, known.get(address), item);
  }

  #rebuild(fresh, more) {
    const known = byAddress(this.root);
    const wanted = byAddress(fresh);
    const older = more ? this.#behind(known.get(Array.from(wanted.keys()).at(-1)), wanted) : [];
    if (older.length) fresh.querySelector('.earlier').replaceWith(...this.root.querySelectorAll('.earlier'));
    for (const [address, item] of wanted) this.#reuse(known.get(address), item);
    for (const item of older) place(fresh, item);
    const top = this.root.scrollTop;
    this.root.replaceChildren(fresh);
    this.root.scrollTop = top;
    this.point(this.#page.conversation);
  }

  #reuse(known, fresh) {
    if (!known) return furnish(this.#page, fresh);
    refresh(this.#page, known, fresh);
    fresh.replaceWith(known);
  }

  /**
   * Return the items after the last one that the server lists: they were
   * loaded on demand, or have slipped behind it.
   */
  #behind(last, wanted) {
    if (!last) return [];
    const follows = (item) => last.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_FOLLOWING;
    const items = Array.from(this.root.querySelectorAll('li'));
    return items.filter((item) => !wanted.has(addressOf(item)) && follows(item));
  }

  /**
   * Append older conversations, and move the open one to its place
   * among them without moving it on the screen.
   */
  extend(fragment) {
    const open = this.root.querySelector('[data-apart] li');
    const before = open?.getBoundingClientRect().top;
    keepingFocus(() => this.#extend(fragment, open));
    if (open) this.root.scrollTop += open.getBoundingClientRect().top - before;
  }

  #extend(fragment, open) {
    this.root.querySelector('.earlier')?.remove();
    const apart = open?.closest('.group');
    apart?.remove();
    const known = byAddress(this.root);
    for (const [address, item] of byAddress(fragment)) {
      const listed = open && addressOf(open) === address ? open : item;
      if (known.has(address)) continue;
      if (listed === open) item.replaceWith(open);
      else furnish(this.#page, item);
      place(this.root, listed);
    }
    if (open && !open.isConnected) this.root.append(apart);
    this.root.append(...fragment.querySelectorAll('.earlier'));
  }
}

function byAddress(within) {
  return new Map(Array.from(within.querySelectorAll('li'), (item) => [addressOf(item), item]));
}

/** Return the groups and their items as text, in their order. */
function outline(within) {
  const nodes = Array.from(within.querySelectorAll('.group, li:not([hidden])'));
  return nodes.map((node) => node.dataset.group ?? addressOf(node)).join(' ');
}

/** Append an item to its group, which is made if it is missing. */
function place(root, item) {
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
