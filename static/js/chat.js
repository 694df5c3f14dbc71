import { Composer, Outbox } from './composer.js';
import { RunStream } from './stream.js';
import { Follower, Page, Reply, Turn, copy, furnish, identify } from './transcript.js';

const SHORTCUTS = { KeyO: 'fresh', KeyS: 'fold', Escape: 'box' }; // with Ctrl and Shift; Escape with Shift alone
const LISTED = '#conversations li'; // F2 on one of these renames it
const SYNC_AFTER = 1_500; // milliseconds; the modules that a page needs to be read and used come first
const LET_GO_AFTER = 10_000; // milliseconds hidden; on HTTP/1.1 all tabs of a site share six connections

/**
 * The controller of the page. Modules that are loaded on demand may use `page`, `thread`,
 * `composer`, `busy`, `begin`, `swap` and `say`.
 */
class Chat {
  page;
  composer;
  thread = document.getElementById('thread');
  #outbox;
  #follower;
  #stream = null;
  #turn = null;
  #sidebar = null;
  #stops = null;
  #sync = null;
  #keyboard = null;

  constructor(page) {
    this.page = page;
    this.#outbox = Outbox.open(page.user);
    this.#follower = new Follower(document.getElementById('jump'));
    this.composer = new Composer(document.getElementById('composer'), this.#outbox, this.#draftName, {
      send: (text) => this.#ask(text),
      stop: () => this.#stop(),
      editLast: () => this.#editLast(),
      resized: () => this.hold(),
    });
  }

  start() {
    for (const type of ['click', 'submit']) this.thread.addEventListener(type, (event) => this.#act(event));
    document.getElementById('sign-out').addEventListener('submit', () => this.#outbox.purge());
    document.getElementById('model')?.addEventListener('change', () => this.#introduce());
    this.#comeAndGo();
    this.#liveBeside();
    this.#goToEnd();
    if (document.activeElement === document.body) this.composer.focus();
    this.arrived();
    setTimeout(() => this.#keepUp(), SYNC_AFTER);
    // Once the reader has left the end, there is a place to keep over a reload.
    addEventListener('scroll', () => this.#follower.following || this.#sync || this.#keepUp(), { passive: true });
  }

  /** True if a reply is on its way to this page. */
  get busy() {
    return this.#stream !== null;
  }

  /**
   * Enable or disable the buttons that request a reply. While one is on its
   * way they stay in place, marked as disabled.
   */
  enable(root = this.thread) {
    const disabled = String(this.busy);
    for (const button of root.querySelectorAll('[data-turn]')) {
      if (button.ariaDisabled !== disabled) button.ariaDisabled = disabled;
    }
  }

  /** Set up articles from the server that were not in the thread before. */
  arrived() {
    furnish(this.thread);
    this.enable();
    const live = this.thread.querySelector('[data-status=running], [data-status=queued]');
    if (live && !this.busy) this.#resume(live);
    if (this.thread.querySelector('[data-action=wait][hidden]')) {
      import('./outcome.js').then(({ watch }) => watch(this, this.thread));
    }
    if (this.thread.querySelector('.older')) import('./history.js').then(({ watch }) => watch(this));
    this.reopen();
  }

  /** Reopen the edits that were in progress when this tab last showed their messages. */
  reopen() {
    if (this.#outbox.drafts('edit-').length) import('./edit.js').then(({ reopen }) => reopen(this));
  }

  /** Count turns made elsewhere as seen, after they were added to the page. */
  changed() {
    if (!this.busy) this.#mark('');
  }

  /** Load sync.js, which tells other tabs about turns made on this page and adds turns made elsewhere. */
  #keepUp() {
    const loading = (this.#sync ??= import('./sync.js').then(({ Sync }) => new Sync(this)));
    loading.then((sync) => sync.tell(), () => (this.#sync = null));
  }

  get #draftName() {
    return this.page.conversation || 'new';
  }

  #goToEnd() {
    if (location.hash) return this.#follower.release();
    history.scrollRestoration = 'manual';
    const jump = () => this.#follower.jump();
    if (performance.getEntriesByType('navigation')[0]?.type !== 'reload') return jump();
    return import('./place.js').then(({ restore }) => restore(this) || jump(), jump);
  }

  get follower() {
    return this.#follower;
  }

  /** Name the chosen model on the empty page. */
  #introduce() {
    const name = document.getElementById('answers');
    if (name) name.textContent = this.page.modelName(this.composer.model);
  }

  /** Keep the end in view for a reader who is there, after the page changed its height. */
  hold() {
    this.#follower.follow();
  }

  // Actions

  /**
   * Load the handler of a `[data-action]` when it is first used. If that
   * fails, a form is submitted as without scripts.
   */
  #act(event) {
    const element = event.target.closest('[data-action], .copy');
    if (!element || (event.type === 'click' && element.matches('form'))) return;
    event.preventDefault();
    if (element.matches('.copy')) import('./clipboard.js').then(({ copyCode }) => copyCode(this.page, element));
    else import('./actions.js').then(({ act }) => act(this, element), () => sent(element));
  }

  #editLast() {
    const edits = this.thread.querySelectorAll('.question [data-action=edit]');
    if (!this.busy && edits.length) edits[edits.length - 1].click();
  }

  /**
   * Replace the thread by a newly fetched page of this conversation, without a jump.
   * @param {string} html
   * @param {string} message  the id of the message that keeps its place; none: the topmost in view
   * @returns {Promise<HTMLElement|null>} that message's article
   */
  async swap(html, message) {
    const { swap } = await import('./history.js');
    return swap(this, html, message);
  }

  #ask(content) {
    if (this.busy) return;
    this.composer.hold();
    this.begin({ body: { content }, question: content, typed: true });
  }

  /**
   * Request a reply and stream it.
   * @param {object} wanted
   * @param {string} [wanted.url]  none: the next turn of this conversation
   * @param {object} wanted.body  the request body, without the client key (and, in the next turn, without the
   *   model)
   * @param {string} [wanted.question]  shown at once
   * @param {HTMLElement} [wanted.reply]  the article that is continued; none: a new one at the end
   * @param {Element[]} [wanted.replaced]  articles that are removed once the server has accepted the request
   * @returns {Promise<boolean>} whether the server accepted it
   */
  begin({ url, body, question, reply, replaced = [], typed = false, keepFocus = false }) {
    if (this.busy) return Promise.resolve(false);
    this.say('');
    const moved = replaced.some((article) => article.contains(document.activeElement));
    return new Promise((settle) => {
      const request = this.#request(url, body);
      const asked = question === undefined ? null : this.#show('question', question);
      const shown = reply ? this.#replyIn(reply) : this.#newReply(request.body.model);
      const goesOn = Boolean(reply);
      this.#turn = new Turn({ reply: shown, goesOn, question: asked, replaced, typed, request, settle });
      if (moved && !keepFocus) this.composer.focus();
      this.#follower.jump();
      this.#open().send(request.url, request.body);
    });
  }

  #request(url, message) {
    const { conversation } = this.page;
    const next = conversation ? this.page.url('send', conversation) : this.page.url('new');
    const wanted = url ? { url, body: message } : { url: next, body: { ...this.composer.settings, ...message } };
    const client_key = this.#outbox.keyFor(this.#draftName, { url: wanted.url, ...wanted.body });
    return { url: `${wanted.url}?html=1`, body: { ...wanted.body, client_key } };
  }

  #resume(article) {
    this.#turn = new Turn({ reply: this.#replyIn(article) });
    this.#turn.accept();
    this.#announce('replying');
    this.#mark('replying');
    this.#open().follow(this.#turn.reply.run, this.#turn.reply.position);
  }

  #open() {
    this.composer.busy = 'live';
    this.#stream = new RunStream({
      urls: { stream: (run) => `${this.page.url('stream', run)}?html=1`, stop: (run) => this.page.url('stop', run) },
      token: this.page.token,
      on: this.#handlers(),
    });
    this.enable();
    return this.#stream;
  }

  #stop() {
    this.composer.busy = 'stopping';
    this.#stream?.stop();
  }

  // Stream events

  #handlers() {
    return {
      accepted: () => this.#accepted(),
      open: () => this.#reply.remark(''),
      meta: (meta) => this.#meet(meta),
      text: (piece) => this.#reply.append(piece),
      reset: () => this.#reply.reset(),
      problem: (problem) => this.#trouble(problem),
      waiting: () => this.#reply.remark(this.page.say(this.#waiting)),
      done: (done) => this.#done(done),
      end: (outcome) => this.#end(outcome),
    };
  }

  get #reply() {
    return this.#turn.reply;
  }

  /** Show a problem below the reply. An empty message removes it. */
  #trouble({ code, message }) {
    this.#reply.remark(message);
    if (code === 'not_saved') document.getElementById('status').textContent = message;
  }

  get #waiting() {
    if (this.#turn.accepted) return 'resuming';
    return navigator.onLine ? 'sending-again' : 'queued';
  }

  #accepted() {
    this.#turn.accept();
    this.#outbox.release(this.#draftName);
    if (this.#turn.typed) this.composer.accepted();
    this.#announce('replying');
    this.#keepUp();
  }

  #meet(meta) {
    const { question, reply } = this.#turn;
    if (!this.page.conversation && meta.conversation) this.#adopt(meta.conversation);
    if (question) identify(question, meta.user_message);
    this.#mark('replying');
    reply.identify(meta);
    reply.model = this.page.modelName(meta.model);
  }

  #done(done) {
    if (!this.#reply.live) return;
    const { article } = this.#reply;
    if (done.answered_by) this.#reply.model = this.page.modelName(done.answered_by);
    this.#reply.finish(done);
    this.#announce(done.status === 'complete' ? 'finished' : 'ended');
    if (done.code || done.because) this.#tell(article);
  }

  /**
   * Load the ways to go on, and enable the retry button only with them, because a button that
   * moves while it is pressed loses the press.
   */
  #tell(article) {
    const hold = (held) => article.querySelector('.retry')?.toggleAttribute('inert', held);
    const over = () => hold(false);
    hold(true);
    import('./outcome.js').then(({ tell }) => tell(this, article)).then(over, over);
  }

  async #end(outcome) {
    if (this.#lacksSession(outcome) && (await this.#signIn())) return;
    const turn = this.#turn;
    this.#stream = this.#turn = null;
    this.composer.busy = '';
    this.enable();
    if (outcome.kind === 'done') this.#mark('');
    if (outcome.kind === 'done') this.#settle(turn.reply);
    else if (turn.accepted) this.#lose(turn.reply, outcome);
    else this.#takeBack(turn, outcome);
    this.retract('busy', 'busy-kept');
    for (const trouble of this.thread.querySelectorAll('.trouble[data-about=busy]')) trouble.remove();
    // Another window was first: its question and reply are shown, and this question is back in the box.
    if (outcome.kind === 'busy') this.say(turn.typed ? 'busy-kept' : 'busy');
    this.#follower.follow();
    this.#keepUp();
  }

  /**
   * Return whether to sign in again: the session has ended, or a sign-in in another tab has made this page's
   * CSRF token invalid. The latter is tried once for each turn.
   */
  #lacksSession({ kind, status }) {
    return kind === 'signed-out' || (status === 403 && !this.#turn.renewed);
  }

  /**
   * Have the same person sign in again without leaving the page, then go on with the stream or the request.
   */
  async #signIn() {
    this.#turn.renewed = true;
    const { position } = this.#stream;
    const { signIn } = await import('./signin.js').catch(() => ({}));
    if (!(await signIn?.(this.page))) return false;
    const { accepted, reply, request } = this.#turn;
    if (accepted) this.#open().follow(reply.run, position);
    else this.#open().send(request.url, request.body);
    return true;
  }

  /** Finish a reply whose run had ended before this page noticed, so that no `done` event came. */
  #settle(reply) {
    if (reply.live) reply.finish({ status: 'complete' });
  }

  #lose(reply, outcome) {
    reply.leave(outcome.error?.message || this.page.say('lost'));
    this.#explain(outcome);
  }

  #takeBack(turn, outcome) {
    this.#turn = turn;
    this.#giveBack();
    this.#turn = null;
    // The next attempt of a refused message is a new send, unless only the sign-in was missing.
    if (outcome.kind === 'refused') this.#outbox.release(this.#draftName);
    this.#explain(outcome);
    this.#announce('');
  }

  #giveBack() {
    this.#turn.withdraw();
    if (this.#turn.typed) this.composer.giveBack();
  }

  #explain({ kind, status, error }) {
    if (kind === 'signed-out') {
      const next = encodeURIComponent(location.pathname);
      this.say('signed-out', this.link('sign-in', `${this.page.url('login')}?next=${next}`));
    } else if (status === 403) this.say('outdated', this.link('reload', location.href));
    else if (kind === 'refused') this.#refuse(error);
    else if (kind === 'unreachable') this.say('unreachable');
  }

  #refuse({ message, retry_after: seconds }) {
    this.#notice(message || this.page.say('refused'));
    const notice = document.getElementById('notice');
    if (seconds) import('./countdown.js').then(({ countDown }) => countDown(this.page, notice, seconds));
  }

  // The page

  #show(kind, text = '') {
    const article = copy(`${kind}-template`);
    article.querySelector('[data-part=text]').textContent = text;
    this.thread.append(article);
    return article;
  }

  /** Add an article for a reply. Only the latest reply has room to grow into: see `.fresh` in chat.css. */
  #newReply(model) {
    for (const article of this.thread.querySelectorAll('.fresh')) article.classList.remove('fresh');
    const article = this.#show('reply');
    article.classList.add('fresh');
    const reply = this.#replyIn(article);
    reply.model = this.page.modelName(model);
    return reply;
  }

  #replyIn(article) {
    return new Reply(article, this.page, () => this.#follower.follow());
  }

  /** Give a new conversation its address. Back leads to the page before it, not to its empty page. */
  #adopt(conversation) {
    const address = this.page.url('conversation', conversation);
    const question = this.#turn.question?.querySelector('[data-part=text]').textContent ?? '';
    this.page.conversation = conversation;
    history.replaceState(null, '', address);
    this.composer.moveTo(conversation, this.page.url('send', conversation));
    this.#beside((sidebar) => sidebar.adopt(conversation, question));
  }

  // The sidebar and the header

  /** Load the sidebar's module when the sidebar or the header is first used, or has something to show. */
  #liveBeside() {
    const parts = document.querySelectorAll('#sidebar, .bar');
    const come = () => document.hidden || this.#beside(() => {});
    for (const type of ['pointerover', 'focusin', 'toggle']) {
      for (const part of parts) part.addEventListener(type, come, { once: true });
    }
    const seen = () => (this.#sidebar || !document.hidden) && this.#beside((sidebar) => sidebar.came());
    document.addEventListener('visibilitychange', seen);
    document.addEventListener('click', (event) => this.#use(event));
    document.addEventListener('keydown', (event) => this.#press(event));
    if (document.querySelector('#sidebar :is([data-state], [data-unseen]), #toast form')) come();
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const zone = `tz=${timeZone}`;
    // Writing a cookie keeps the page out of the back/forward cache, so it is written only if it differs.
    if (!document.cookie.includes(zone)) document.cookie = `${zone};path=/;max-age=31536000;samesite=lax`;
  }

  #beside(then, otherwise = () => {}) {
    const loading = (this.#sidebar ??= import('./sidebar.js').then(({ Sidebar }) => new Sidebar(this.page)));
    loading.then(then, () => {
      this.#sidebar = null;
      otherwise();
    });
  }

  #mark(state) {
    const { conversation } = this.page;
    this.#beside((sidebar) => sidebar.mark(conversation, state));
  }

  #use(event) {
    const opener = event.target.closest('[data-opens]');
    if (!opener) return;
    event.preventDefault();
    const plainly = () => opener.popoverTargetElement?.togglePopover();
    this.#beside((sidebar) => sidebar.open(opener), plainly);
  }

  #press(event) {
    const { code, ctrlKey, metaKey, shiftKey, target } = event;
    // Once the module is loaded, `mark` runs before the focus moves; only the first Tab may be too early.
    if (code === 'Tab') (this.#stops ??= import('./stops.js')).then(({ mark }) => mark(), () => {});
    const shortcut = shiftKey && (ctrlKey || metaKey || code === 'Escape') && SHORTCUTS[code];
    const name = code === 'F2' && target.closest(LISTED) ? 'rename' : shortcut;
    if (!name) return;
    event.preventDefault();
    this.#beside((sidebar) => sidebar.press(name, target));
  }

  /** Show a sentence of the page above the message box, by its name; '' removes it. */
  say(name, link) {
    this.#notice(name && this.page.say(name), link, name);
  }

  /** Remove the sentence above the box if it is one of these, because it no longer holds. */
  retract(...names) {
    if (names.includes(document.getElementById('notice').dataset.about)) this.say('');
  }

  #notice(sentence, link, about = '') {
    const notice = document.getElementById('notice');
    // If set again, it would be read out again.
    if (about && notice.dataset.about === about) return;
    notice.dataset.about = about;
    notice.replaceChildren(sentence, ...(link ? [' ', link] : []));
  }

  /** Show a title that was changed elsewhere. */
  entitle(title) {
    this.#beside((sidebar) => sidebar.entitle(this.page.conversation, title));
  }

  link(name, href) {
    const link = document.createElement('a');
    link.href = href;
    link.textContent = this.page.say(name);
    return link;
  }

  /**
   * Announce only the beginning and the end: a screen reader that gets
   * every word of a stream can read nothing else.
   */
  #announce(name) {
    const sentence = name && this.page.say(name, this.#turn?.reply);
    document.getElementById('status').textContent = sentence;
  }

  /**
   * Stream only while the page is visible. The run goes on without a viewer, and is resumed at its position.
   */
  #comeAndGo() {
    let timer = 0;
    const looked = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => this.#stream?.pause(), LET_GO_AFTER);
      else this.#stream?.resume();
    };
    document.addEventListener('visibilitychange', looked);
    addEventListener('pagehide', () => this.#stream?.pause());
    addEventListener('pageshow', ({ persisted }) => persisted && this.#stream?.resume());
    addEventListener('online', () => this.#stream?.hurry());
    looked();
    this.#lineUpAndDown();
    if (matchMedia('(pointer: coarse)').matches) visualViewport?.addEventListener('resize', () => this.#lift());
  }

  /** Load keyboard.js once an on-screen keyboard covers a part of the page. */
  #lift() {
    if (visualViewport.height > innerHeight - 1) return;
    this.#keyboard ??= import('./keyboard.js').then(({ lift }) => lift(() => this.#follower.follow()), () => {});
  }

  /**
   * Show a banner while there is no network. The person can go on writing,
   * and a sent message waits for the network.
   */
  #lineUpAndDown() {
    const banner = document.getElementById('offline');
    const changed = (event) => {
      banner.hidden = navigator.onLine;
      if (event) document.getElementById('status').textContent = navigator.onLine ? '' : banner.textContent;
    };
    for (const type of ['online', 'offline']) addEventListener(type, changed);
    changed();
  }
}

/** Do what a page without scripts would do. */
function sent(element) {
  if (element.type === 'submit') element.form?.requestSubmit(element);
  else element.submit?.();
}

new Chat(new Page(document.getElementById('chat'))).start();
