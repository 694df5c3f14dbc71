import { Outbox } from './composer.js';
import { Doings } from './doings.js';
import { setState } from './item.js';
import { List } from './list.js';
import { part } from './saving.js';
import { titleOf } from './title.js';
import { nodesOf } from './transcript.js';

const LOOK_EVERY = 5_000; // milliseconds at least between two updates, only while the page is visible
const AHEAD = '300px'; // the list loads more at this distance from its end
const FORMS = [['rename', 'rename'], ['delete', 'delete'], ['instruct', 'settings']]; // form and address name

/** The conversations beside the thread, kept in step with the server. Loaded when it is first used. */
export class Sidebar {
  #page;
  #list;
  #doings;
  #timer = 0;
  #looked = -LOOK_EVERY;
  #unseen; // the open conversation holds a finished reply that was not seen yet

  /** @param {import('./transcript.js').Page} page */
  constructor(page) {
    this.#page = page;
    this.#list = new List(page);
    this.#doings = new Doings(page, this.#list, () => this.#look());
    this.#unseen = this.#list.root.querySelector('[data-unseen]') !== null;
    this.#grow();
    addEventListener('pageshow', ({ persisted }) => persisted && this.came());
    this.#see();
    this.#wait();
  }

  /** @param {HTMLElement} opener  the element that was used, with the action's name in `data-opens` */
  open(opener) {
    return this.#doings.open(opener.dataset.opens, opener);
  }

  /**
   * @param {'fresh'|'fold'|'box'|'rename'} name
   * @param {HTMLElement} held  the element that had the focus
   */
  press(name, held) {
    return this.#doings.open(name, held);
  }

  /** Add a new conversation, which has its address and its title now. */
  adopt(conversation, question) {
    const title = titleOf(question);
    this.#list.raise(conversation, title);
    this.#list.point(conversation);
    this.#doings.entitle(conversation, title);
    for (const [id, name] of FORMS) document.getElementById(id).action = this.#page.url(name, conversation);
    document.getElementById('system').setAttribute('form', 'instruct');
    Outbox.open(this.#page.user).keep('system', '');
    document.getElementById('menu-button').hidden = false;
  }

  /** Show a title that was changed elsewhere. */
  entitle(conversation, title) {
    this.#doings.entitle(conversation, title);
  }

  /** @param {''|'replying'} state  '': the reply has ended, and counts as seen once the page is visible */
  mark(conversation, state) {
    const item = this.#list.find(conversation);
    if (state && item) this.#list.raise(conversation);
    if (item && conversation !== this.#page.conversation) setState(this.#page, item, state);
    this.#unseen = !state && conversation === this.#page.conversation;
    this.#see();
  }

  /** Tell the server that the reply was seen. A GET changes nothing, so it needs this request. */
  #see() {
    if (!this.#unseen || document.hidden) return;
    this.#unseen = false;
    // A failure is not shown: the mark stays until the next time.
    this.#page.post(this.#page.url('seen', this.#page.conversation), {}, { keepalive: true }).catch(() => {});
  }

  /** Update after the page became visible or hidden. */
  came() {
    this.#see();
    if (!document.hidden && Date.now() - this.#looked >= LOOK_EVERY) this.#look();
    else this.#wait();
  }

  async #look() {
    this.#looked = Date.now();
    const html = await part(this.#page.url('list')).catch(() => '');
    // A box in which a title is being edited stays in place.
    if (html && !this.#list.root.querySelector('.rename')) this.#list.update(nodesOf(html));
    this.#wait();
  }

  #wait() {
    clearTimeout(this.#timer);
    if (!document.hidden && this.#list.replying) this.#timer = setTimeout(() => this.#look(), LOOK_EVERY);
  }

  /** Load older conversations when the end of the list comes near. */
  #grow() {
    const { root } = this.#list;
    const seen = new IntersectionObserver((entries) => this.#extend(entries), { root, rootMargin: AHEAD });
    const watch = () => root.querySelectorAll('.earlier').forEach((link) => seen.observe(link));
    new MutationObserver(watch).observe(root, { childList: true });
    watch();
  }

  async #extend(entries) {
    const link = entries.find(({ isIntersecting }) => isIntersecting)?.target;
    if (!link || link.ariaBusy) return;
    link.ariaBusy = 'true';
    const html = await part(link.href).catch(() => '');
    link.ariaBusy = null;
    if (html && link.isConnected) this.#list.extend(nodesOf(html));
  }
}
