import { fetchPart } from './api.js';
import { ConversationActions } from './conversation_actions.js';
import { setState, titleFromQuestion } from './conversation_item.js';
import { ConversationList } from './conversation_list.js';
import { drafts } from './drafts.js';
import { page } from './page.js';

const REFRESH_MS = 5_000; // minimum between two updates, only while the page is visible
const SOON_MS = 200; // several changes are shown by one update
const LOAD_MARGIN = '300px'; // the list loads more at this distance from its end
const FORMS = [['rename', 'rename'], ['delete', 'delete'], ['instruct', 'settings'], ['export', 'export'], ['share', 'share']]; // ids of the forms, and the names of their URLs

/** The conversations beside the thread, kept in step with the server. Loaded when it is first used. */
export class Sidebar {
  #list;
  #actions;
  #timer = 0;
  #soon = 0;
  #refreshes = 0; // started so far
  #refreshedAt = -REFRESH_MS;
  #unseen; // true if the open conversation has a finished reply that was not seen yet

  constructor() {
    this.#list = new ConversationList(() => this.#refresh());
    this.#actions = new ConversationActions(this.#list);
    this.#unseen = this.#list.root.querySelector('[data-unseen]') !== null;
    this.#watchListEnd();
    addEventListener('pageshow', ({ persisted }) => persisted && this.onVisibilityChange());
    this.#markSeen();
    this.#scheduleRefresh();
  }

  /** @param {HTMLElement} opener  the element that was clicked, or that has the focus */
  open(name, opener) {
    return this.#actions.open(name, opener);
  }

  /** Add a new conversation, which has its address and its title now. */
  addConversation(conversation, question) {
    const title = titleFromQuestion(question);
    if (!page.temporary) {
      this.#list.moveToTop(conversation, title);
      this.#list.setCurrent(conversation);
      this.#actions.showTitle(conversation, title);
    }
    for (const [id, name] of FORMS) {
      const form = document.getElementById(id); // the form to share is missing where sharing is off
      if (form) form.action = page.url(name, conversation);
    }
    document.getElementById('system').setAttribute('form', 'instruct');
    drafts.save('system', '');
    document.getElementById('menu-button').hidden = false;
  }

  /** Show a title that was changed elsewhere. */
  showTitle(conversation, title) {
    this.#actions.showTitle(conversation, title);
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
    if (!document.hidden && this.#list.hasReplying) this.#timer = setTimeout(() => this.#refresh(), REFRESH_MS);
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
}
