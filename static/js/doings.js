import { setTitle, titleOf } from './item.js';

const YEAR = 31_536_000; // seconds
const WIDE = '(width >= 52rem)'; // where the sidebar stands beside the page: chat.css

/** What people do with conversations, from the sidebar and from the header. */
export class Doings {
  #page;
  #list;
  #refresh;
  #deletion = null;
  #chosen = null; // the item whose options are open
  #sidebar = document.getElementById('sidebar');

  /**
   * @param {import('./transcript.js').Page} page
   * @param {import('./list.js').List} list
   * @param {() => Promise<void>} refresh  brings the list up to date
   */
  constructor(page, list, refresh) {
    this.#page = page;
    this.#list = list;
    this.#refresh = refresh;
    this.#sidebar.addEventListener('toggle', () => this.#drawn());
    this.#drawn();
    if (document.querySelector('#toast form')) this.#deletedElsewhere();
  }

  /** @param {HTMLElement} [opener]  what was clicked, or what has the focus */
  open(name, opener) {
    const doings = {
      models: () => import('./models.js').then(({ choose }) => choose(this.#page, opener)),
      settings: () => import('./settings.js').then(({ instruct }) => instruct(this.#page)),
      options: () => this.#options(opener),
      rename: () => this.#rename(opener.closest('#conversations li') ?? this.#closeOptions()),
      title: () => this.#renameThis(),
      delete: () => this.#delete(opener),
      undo: () => this.#deletions().then((deletion) => deletion.undo(opener.form)),
      fold: () => this.#fold(),
      fresh: () => location.assign(this.#page.url('home')),
      box: () => document.getElementById('content').focus(),
    };
    return doings[name]();
  }

  /** The open conversation's title stands in the header, in the list, and on the tab. */
  entitle(conversation, title) {
    const item = this.#list.find(conversation);
    if (item) setTitle(this.#page, item, title);
    if (conversation !== this.#page.conversation) return;
    document.title = title;
    this.#heading().textContent = title;
    document.getElementById('rename').elements.title.value = title;
  }

  /** A new chat's heading is no button, for there is nothing to rename yet. */
  #heading() {
    const known = document.getElementById('title');
    if (known) return known;
    const made = document.getElementById('title-template').content.firstElementChild.cloneNode(true);
    document.querySelector('h1').replaceChildren(made);
    return made;
  }

  async #options(button) {
    this.#chosen = button.closest('li');
    const { openMenu } = await import('./options.js');
    openMenu(document.getElementById('options'), button);
  }

  #closeOptions() {
    document.getElementById('options').hidePopover();
    return this.#chosen;
  }

  async #rename(item) {
    const link = item.querySelector('a');
    const { rename } = await import('./rename.js');
    const conversation = conversationOf(item);
    const title = titleOf(item);
    const now = await rename({ page: this.#page, conversation, shown: link, title });
    if (now !== title) this.entitle(conversation, now);
  }

  async #renameThis() {
    const { rename } = await import('./rename.js');
    document.getElementById('menu').hidePopover();
    const { conversation } = this.#page;
    const shown = this.#heading();
    const title = shown.textContent;
    const now = await rename({ page: this.#page, conversation, shown, title });
    if (now !== title) this.entitle(conversation, now);
  }

  async #delete(opener) {
    const byKeyboard = opener.matches(':focus-visible');
    const inList = opener.closest('#options') !== null;
    const conversation = inList ? conversationOf(this.#closeOptions()) : this.#page.conversation;
    const deletion = await this.#deletions();
    return deletion.remove(conversation, byKeyboard);
  }

  #deletions() {
    const made = ({ Deletion }) => new Deletion(this.#page, this.#list, this.#refresh);
    return (this.#deletion ??= import('./deletion.js').then(made));
  }

  /** The page began with the offer to take a deletion back, which a reload need not make again. */
  #deletedElsewhere() {
    history.replaceState(null, '', location.pathname);
    this.#deletions();
  }

  /** On a narrow page the sidebar is a drawer over it; on a wide one it stands beside it, or is folded away. */
  #drawn() {
    if (!matchMedia(WIDE).matches || !this.#sidebar.matches(':popover-open')) return;
    this.#sidebar.hidePopover();
    this.#fold();
  }

  #fold() {
    if (!matchMedia(WIDE).matches) return this.#sidebar.togglePopover();
    const folded = document.body.classList.toggle('folded');
    document.cookie = `sidebar=${folded ? 'folded' : ''};path=/;max-age=${folded ? YEAR : 0};samesite=lax`;
    const away = document.activeElement === document.body || this.#sidebar.contains(document.activeElement);
    if (folded && away) document.querySelector('.drawer').focus();
    else if (!folded && document.activeElement.matches('.drawer, body')) this.#sidebar.querySelector('.fold').focus();
  }
}

function conversationOf(item) {
  return item.querySelector('a').pathname.split('/').at(-2);
}
