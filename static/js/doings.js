import { setTitle, titleOf } from './item.js';

const YEAR = 31_536_000; // seconds
const WIDE = '(width >= 52rem)'; // as in chat.css: the sidebar stands beside the thread

/** The actions on conversations, from the sidebar and from the header. */
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
   * @param {() => Promise<void>} refresh  fetches the list again
   */
  constructor(page, list, refresh) {
    this.#page = page;
    this.#list = list;
    this.#refresh = refresh;
    this.#sidebar.addEventListener('toggle', () => this.#drawn());
    this.#drawn();
    if (document.querySelector('#toast form')) this.#deletedElsewhere();
  }

  /** @param {HTMLElement} [opener]  the element that was clicked, or that has the focus */
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

  /** Show a conversation's title in the list and, if that is open, in the header and on the tab. */
  entitle(conversation, title) {
    const item = this.#list.find(conversation);
    if (item) setTitle(this.#page, item, title);
    if (conversation !== this.#page.conversation) return;
    document.title = title;
    this.#heading().textContent = title;
    document.getElementById('rename').elements.title.value = title;
  }

  /**
   * Return the button in the heading. A new chat's heading has none,
   * because there is nothing to rename, so make it.
   */
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

  /**
   * Remove the query from the address: the page began with the offer to undo a
   * deletion, and a reload need not repeat it.
   */
  #deletedElsewhere() {
    history.replaceState(null, '', location.pathname);
    this.#deletions();
  }

  /**
   * Fold or unfold the sidebar where it was opened as a drawer on a wide page. It is a drawer on narrow pages
   * only; on a wide page it stands beside the thread or is folded.
   */
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
