import { Composer, DraftStore } from './composer.js';
import { Page, Reply, ScrollFollower, Turn, addCodeActions, announce, cloneTemplate, isLongQuestion, setMessage } from './page.js';
import { RunStream } from './stream.js';

const SHORTCUTS = { KeyO: 'new-chat', KeyS: 'fold', Escape: 'composer' }; // with Ctrl+Shift; Escape with Shift
const DIALOGS = { k: 'search', '/': 'shortcuts' }; // with Ctrl or Cmd; some keyboards have / with Shift
const LIST_ITEMS = '#conversations li'; // F2 on one of these renames it
const SYNC_DELAY_MS = 1_500; // modules that the page needs at once are loaded first
const HIDDEN_PAUSE_MS = 10_000; // on HTTP/1.1 all tabs of a site share six connections

/**
 * The controller of the page. Modules that are loaded on demand use its public members.
 */
class Chat {
  page;
  composer;
  loading; // true until the tray has the files that were chosen
  thread = document.getElementById('thread');
  #drafts;
  #follower;
  #stream = null;
  #turn = null;
  #sidebar = null;
  #tabStops = null;
  #sync = null;
  #queue = null;
  #keyboard = null;

  constructor(page) {
    this.page = page;
    this.#drafts = DraftStore.open(page.user);
    this.#follower = new ScrollFollower(document.getElementById('jump'));
    this.composer = new Composer(document.getElementById('composer'), this.#drafts, this.#draftName, {
      send: (text) => this.#send(text),
      stop: () => this.#stop(),
      editLast: () => this.#editLast(),
      resized: () => this.followEnd(),
    });
  }

  start() {
    for (const type of ['click', 'submit']) this.thread.addEventListener(type, (event) => this.#dispatch(event));
    document.getElementById('sign-out').addEventListener('submit', () => this.#drafts.clear());
    // A selection may begin before it is known what will be in it, and copying cannot wait for a module.
    document.addEventListener('selectstart', () => document.querySelector('math') && import('./copy_tex.js'));
    for (const type of ['dragover', 'drop']) document.addEventListener(type, (event) => this.onFiles(event, event.dataTransfer));
    document.addEventListener('change', ({ target }) => target.type === 'file' && this.addFiles(target));
    document.getElementById('content').addEventListener('input', ({ target }) => target.value === '/' && import('./prompt_menu.js').then((module) => module.openPrompts(this.page, target), () => {}));
    const kept = this.#drafts.load(this.#attachmentsDraft);
    if (kept) this.#useAttachments((module) => module.putBack(this, JSON.parse(kept)));
    this.#watchVisibility();
    this.page.watchConnection();
    if (this.page.temporary) import('./temporary.js').then((module) => module.deleteOnLeave(this.page));
    this.#watchSidebar();
    this.#restoreScroll();
    if (document.activeElement === document.body) this.composer.focus();
    this.setUpArticles();
    setTimeout(() => this.#startSync(), this.#drafts.load(`queue-${this.#draftName}`) ? 0 : SYNC_DELAY_MS);
    // Earlier for the first key or movement: the next one may be one of the shortcuts that it adds.
    for (const type of ['keydown', 'pointermove']) addEventListener(type, () => this.#sync || this.#startSync(), { once: true });
    // Once the reader has left the end, there is a place to keep over a reload.
    addEventListener('scroll', () => this.#follower.following || this.#sync || this.#startSync());
  }

  /** True if a reply is on its way to this page. */
  get busy() {
    return this.#stream !== null;
  }

  /**
   * Enable or disable the buttons that request a reply. While one is on its
   * way they stay in place, marked as disabled.
   */
  updateTurnButtons(root = this.thread) {
    const disabled = String(this.busy);
    for (const button of root.querySelectorAll('[data-turn]')) {
      if (button.ariaDisabled !== disabled) button.ariaDisabled = disabled;
    }
  }

  /** Set up articles from the server that were not in the thread before. */
  setUpArticles() {
    addCodeActions(this.thread);
    this.updateTurnButtons();
    const live = this.thread.querySelector('[data-status=running], [data-status=queued]');
    if (live && !this.busy) this.#resume(live);
    if (this.thread.querySelector('[data-action=wait][hidden]')) {
      import('./outcome.js').then((module) => module.startCountdowns(this, this.thread));
    }
    if (this.thread.querySelector('.older')) import('./older_messages.js').then((module) => module.watchOlderLink(this));
    this.reopenEdits();
  }

  /** Reopen the edits that were in progress when this tab last showed their messages. */
  reopenEdits() {
    if (this.#drafts.names('edit-').length) import('./edit.js').then((module) => module.reopenEdits(this));
  }

  /** Count turns made elsewhere as seen, after they were added to the page. */
  markSeen() {
    if (!this.busy) this.#setMark('');
  }

  /**
   * Load sync.js, which tells other tabs about turns made on this page and adds turns made elsewhere, and the
   * queue of messages, which needs it.
   */
  #startSync() {
    const loading = (this.#sync ??= this.#loadSync());
    loading.then((sync) => sync.notifyTabs(), () => (this.#sync = null));
    return loading;
  }

  async #loadSync() {
    const { startBackground } = await import('./background.js');
    const { sync, queue } = startBackground(this, this.#drafts);
    this.#queue = queue;
    return sync;
  }

  get #draftName() {
    return this.page.conversation || 'new';
  }

  #restoreScroll() {
    if (location.hash) return this.#follower.release();
    history.scrollRestoration = 'manual';
    if (!this.page.conversation) return undefined;
    const jump = () => this.#follower.jump();
    if (performance.getEntriesByType('navigation')[0]?.type === 'navigate') return jump(); // not a reload, nor Back
    return import('./scroll_position.js').then(async (module) => (await module.restorePosition(this)) || jump(), jump);
  }

  get follower() {
    return this.#follower;
  }

  /** Keep the end in view for a reader who is there, after the page changed its height. */
  followEnd() {
    this.#follower.follow();
  }

  // Actions

  /**
   * Load the handler of a `[data-action]` when it is first used. If that
   * fails, a form is submitted as without scripts.
   */
  #dispatch(event) {
    const element = event.target.closest('[data-action]');
    if (!element || (event.type === 'click' && element.matches('form'))) return;
    if (element.href && (event.ctrlKey || event.metaKey)) return; // it opens a tab
    event.preventDefault();
    import('./message_actions.js').then((module) => module.dispatch(this, element), () => submitPlainly(element));
  }

  #editLast() {
    if (this.#queue?.editLast()) return;
    const edits = this.thread.querySelectorAll('.question [data-action=edit]');
    if (!this.busy && edits.length) edits[edits.length - 1].click();
  }

  /**
   * Replace the thread by a newly fetched page of this conversation, without a jump.
   * @param {string} html
   * @param {string} message  the id of the message that keeps its place; none: the topmost in view
   * @returns {Promise<HTMLElement|null>} that message's article
   */
  async replaceThread(html, message) {
    const { replaceThread } = await import('./older_messages.js');
    return replaceThread(this, html, message);
  }

  /** Add dropped or pasted files to the question. A dropped file would otherwise replace the page. */
  onFiles(event, { types, files }) {
    if (!types.includes('Files')) return;
    event.preventDefault();
    if (event.type !== 'dragover') this.addFiles({ files }, event.target);
  }

  /** @param {{files: Iterable<File>}} source  an input is emptied, so that it can have the same file again */
  addFiles(source, target = source) {
    const files = Array.from(source.files);
    source.value = '';
    this.#useAttachments((module) => module.addFiles(this, files, target));
  }

  /** Nothing is sent until the tray has the files: a question would leave without them. */
  #useAttachments(use) {
    this.loading = true;
    import('./attachments.js').then(use).catch(() => this.page.showNotice('not-loaded')).then(() => (this.loading = false));
  }

  /** Keep the attachments of the message box with its text. */
  saveAttachments(attachments) {
    this.#drafts.save(this.#attachmentsDraft, attachments.length ? JSON.stringify(attachments) : '');
  }

  get #attachmentsDraft() {
    return `attachments-${this.#draftName}`;
  }

  #send(content, isQuestion) {
    if (this.loading) return;
    const send = () => this.#send(content, true);
    if (content[0] === '/' && !isQuestion) return import('./prompt_menu.js').then((module) => module.takeTyped(content, send), send);
    if (this.busy) return this.#enqueue(content);
    this.requestReply({ body: { content }, question: content, attachments: this.composer.takeText(), typed: true });
  }

  /** Let a message wait for the end of the reply. */
  #enqueue(content) {
    const attachments = this.composer.takeText();
    this.#startSync().then(
      () => {
        this.composer.onAccepted();
        this.#queue.add(content, attachments);
      },
      () => {
        this.composer.restoreText();
        this.page.showNotice('not-loaded');
      },
    );
  }

  /**
   * Request a reply and stream it.
   * @param {object} wanted
   * @param {string} [wanted.url]  none: the next turn of this conversation
   * @param {object} wanted.body  the request body, without the client key (and, in the next turn, without the
   *   model)
   * @param {string} [wanted.question]  shown at once
   * @param {object[]} [wanted.attachments]  of the question: see sent_attachments.js
   * @param {HTMLElement} [wanted.reply]  the article that is continued; none: a new one at the end
   * @param {Element[]} [wanted.replaced]  articles that are removed once the server has accepted the request
   * @returns {Promise<boolean>} whether the server accepted it
   */
  requestReply({ url, body, question, attachments, reply, replaced = [], typed = false, keepFocus = false }) {
    if (this.busy) return Promise.resolve(false);
    this.page.showNotice('');
    const moved = replaced.some((article) => article.contains(document.activeElement));
    return new Promise((onDecided) => {
      const request = this.#buildRequest(url, { ...body, attachments: attachments?.map(({ id }) => id) });
      const shownQuestion = question === undefined ? null : this.#appendArticle('question', question);
      if (attachments?.length) import('./sent_attachments.js').then((module) => module.showAttachments(this, shownQuestion, attachments), () => {});
      const shownReply = reply ? this.#replyIn(reply) : this.#appendReply(request.body.model);
      const continues = Boolean(reply);
      this.#turn = new Turn({ reply: shownReply, continues, question: shownQuestion, replaced, typed, request, onDecided });
      if (moved && !keepFocus) this.composer.focus();
      this.#follower.jump();
      this.#openStream().send(request.url, request.body);
    });
  }

  #buildRequest(url, message) {
    const { conversation } = this.page;
    const next = conversation ? this.page.url('send', conversation) : this.page.url('new');
    const wanted = url ? { url, body: message } : { url: next, body: { ...this.composer.settings, ...message } };
    const client_key = message.client_key ?? this.#drafts.keyFor(this.#draftName, { url: wanted.url, ...wanted.body });
    return { url: `${wanted.url}?html=1`, body: { ...wanted.body, client_key } };
  }

  #resume(article) {
    this.#turn = new Turn({ reply: this.#replyIn(article) });
    this.#turn.accept();
    this.#announce('replying');
    this.#setMark('replying');
    this.#openStream().follow(this.#turn.reply.run, this.#turn.reply.position);
  }

  #openStream() {
    this.composer.busy = 'live';
    this.#stream = new RunStream({
      urls: { stream: (run) => `${this.page.url('stream', run)}?html=1`, stop: (run) => this.page.url('stop', run) },
      token: this.page.token,
      on: this.#handlers(),
    });
    this.updateTurnButtons();
    return this.#stream;
  }

  #stop() {
    this.composer.busy = 'stopping';
    this.#queue?.onStop();
    this.#stream?.stop();
  }

  // Stream events

  #handlers() {
    return {
      accepted: () => this.#onAccepted(),
      open: () => this.#reply.remark(''),
      meta: (meta) => this.#onMeta(meta),
      text: (piece) => this.#reply.append(piece),
      reset: () => this.#reply.reset(),
      problem: (problem) => this.#onProblem(problem),
      waiting: () => this.#reply.remark(this.page.text(this.#waitingText)),
      done: (done) => this.#onDone(done),
      end: (outcome) => this.#onEnd(outcome),
    };
  }

  get #reply() {
    return this.#turn.reply;
  }

  /** Show a problem below the reply. An empty message removes it. */
  #onProblem({ code, message }) {
    this.#reply.remark(message);
    if (code === 'not_saved') announce(message);
  }

  get #waitingText() {
    if (this.#turn.accepted) return 'resuming';
    return navigator.onLine ? 'sending-again' : 'queued';
  }

  #onAccepted() {
    this.#turn.accept();
    this.#drafts.clearKey(this.#draftName);
    if (this.#turn.typed) this.composer.onAccepted();
    this.#announce('replying');
    this.#startSync();
  }

  #onMeta(meta) {
    const { question, reply } = this.#turn;
    if (!this.page.conversation && meta.conversation) this.#onCreated(meta.conversation);
    if (question) setMessage(question, meta.user_message, meta.created);
    this.#setMark('replying');
    reply.setIds(meta);
    reply.model = this.page.modelName(meta.model);
    this.#sync?.then((sync) => sync.updateTimes(), () => {});
  }

  #onDone(done) {
    if (!this.#reply.live) return;
    const { article } = this.#reply;
    if (done.answered_by) this.#reply.model = this.page.modelName(done.answered_by);
    this.#reply.finish(done);
    this.#announce(done.status === 'complete' ? 'finished' : 'ended');
    if (done.code || done.because || done.citations) this.#showOutcome(article);
  }

  /**
   * Load the error's text and the buttons that belong to it. The retry button is enabled only with them,
   * because a button that moves while it is pressed loses the press.
   */
  #showOutcome(article) {
    const setInert = (inert) => article.querySelector('.retry')?.toggleAttribute('inert', inert);
    const release = () => setInert(false);
    setInert(true);
    import('./outcome.js').then((module) => module.showOutcome(this, article)).then(release, release);
  }

  async #onEnd(outcome) {
    if (this.#needsLogin(outcome) && (await this.#login())) return;
    const turn = this.#turn;
    this.#stream = this.#turn = null;
    this.composer.busy = '';
    this.updateTurnButtons();
    if (outcome.kind === 'done') this.#setMark('');
    if (outcome.kind === 'done') this.#finish(turn.reply);
    else if (turn.accepted) this.#onLost(turn.reply, outcome);
    else this.#onRejected(turn, outcome);
    this.page.clearNotice('busy', 'busy-kept');
    for (const error of this.thread.querySelectorAll('.message-error[data-code=busy]')) error.remove();
    // Another window was first: its question and reply are shown, and this question is back in the box.
    if (outcome.kind === 'busy') this.page.showNotice(turn.typed ? 'busy-kept' : 'busy');
    this.#follower.follow();
    this.#startSync();
    this.#queue?.onEnd(outcome.kind, turn.reply.article.dataset.status);
  }

  /**
   * Return whether to log in again: the session has ended, or a login in another tab has made this page's
   * CSRF token invalid. The latter is tried once for each turn.
   */
  #needsLogin({ kind, status }) {
    return kind === 'signed-out' || (status === 403 && !this.#turn.renewed);
  }

  /**
   * Let the same person log in again without leaving the page, then continue the stream or repeat the request.
   */
  async #login() {
    this.#turn.renewed = true;
    const { position } = this.#stream;
    const { login } = await import('./login_dialog.js').catch(() => ({}));
    if (!(await login?.(this.page))) return false;
    const { accepted, reply, request } = this.#turn;
    if (accepted) this.#openStream().follow(reply.run, position);
    else this.#openStream().send(request.url, request.body);
    return true;
  }

  /** Finish a reply whose run had ended before this page noticed, so that no `done` event came. */
  #finish(reply) {
    if (reply.live) reply.finish({ status: 'complete' });
  }

  #onLost(reply, outcome) {
    reply.abandon(outcome.error?.message || this.page.text('lost'));
    this.#explainEnd(outcome);
  }

  #onRejected(turn, outcome) {
    this.#turn = turn;
    this.#restoreDraft();
    this.#turn = null;
    // The next attempt of a refused message is a new send, unless only the sign-in was missing.
    if (outcome.kind === 'refused') this.#drafts.clearKey(this.#draftName);
    this.#explainEnd(outcome);
    this.#announce('');
  }

  #restoreDraft() {
    this.#turn.withdraw();
    if (this.#turn.typed) this.composer.restoreText();
  }

  #explainEnd({ kind, status, error }) {
    if (kind === 'signed-out') {
      const next = encodeURIComponent(location.pathname);
      this.page.showNotice('signed-out', this.page.link('sign-in', `${this.page.url('login')}?next=${next}`));
    } else if (status === 403) this.page.showNotice('outdated', this.page.link('reload', location.href));
    else if (kind === 'refused') this.#showRefusal(error);
    else if (kind === 'unreachable') this.page.showNotice('unreachable');
  }

  #showRefusal(error) {
    this.page.setNotice(error.message || this.page.text('refused'));
    import('./refusal.js').then((module) => module.onRefused(this.page, error), () => {});
  }

  // The page

  #appendArticle(kind, text = '') {
    const article = cloneTemplate(`${kind}-template`);
    article.querySelector('[data-part=text]').textContent = text;
    article.classList.toggle('long', isLongQuestion(text));
    this.thread.append(article);
    return article;
  }

  /** Add an article for a reply. Only the latest reply has room to grow into: see `.latest` in chat.css. */
  #appendReply(model) {
    for (const article of this.thread.querySelectorAll('.latest')) article.classList.remove('latest');
    const article = this.#appendArticle('reply');
    article.classList.add('latest');
    const reply = this.#replyIn(article);
    reply.model = this.page.modelName(model);
    return reply;
  }

  #replyIn(article) {
    return new Reply(article, this.page, () => this.#follower.follow());
  }

  /** Give a new conversation its address. Back leads to the page before it, not to its empty page. */
  #onCreated(conversation) {
    const address = this.page.url('conversation', conversation);
    const { question: article } = this.#turn;
    const question = article?.querySelector('[data-part=text]').textContent || article?.querySelector('[data-name]')?.title || '';
    this.page.conversation = conversation;
    if (!this.page.temporary) history.replaceState(null, '', address); // a reload begins another temporary chat
    this.composer.bindTo(conversation, this.page.url('send', conversation));
    this.#queue?.bind();
    this.#withSidebar((sidebar) => sidebar.addConversation(conversation, question));
  }

  // The sidebar and the header

  /** Load the sidebar's module when the sidebar or the header is first used, or has something to show. */
  #watchSidebar() {
    const parts = document.querySelectorAll('#sidebar, .topbar');
    const load = () => document.hidden || this.#withSidebar(() => {});
    for (const type of ['pointerover', 'focusin', 'toggle']) {
      for (const part of parts) part.addEventListener(type, load, { once: true });
    }
    const refresh = () => (this.#sidebar || !document.hidden) && this.#withSidebar((sidebar) => sidebar.onVisibilityChange());
    document.addEventListener('visibilitychange', refresh);
    document.addEventListener('click', (event) => this.#onOpener(event));
    document.addEventListener('keydown', (event) => this.#onKeydown(event));
    if (document.querySelector('#sidebar :is([data-state], [data-unseen]), #toast form')) load();
  }

  #withSidebar(then, otherwise = () => {}) {
    const loading = (this.#sidebar ??= import('./sidebar.js').then((module) => new module.Sidebar(this.page)));
    loading.then(then, () => {
      this.#sidebar = null;
      otherwise();
    });
  }

  #setMark(state) {
    const { conversation } = this.page;
    this.#withSidebar((sidebar) => sidebar.setMark(conversation, state));
  }

  #onOpener(event) {
    const opener = event.target.closest('[data-opens]');
    if (!opener) return;
    event.preventDefault();
    // Without the module, the button of a menu opens it, and the button of a form submits it.
    const openPlainly = () => (opener.form ? submitPlainly(opener) : opener.popoverTargetElement?.togglePopover());
    this.#withSidebar((sidebar) => sidebar.open(opener), openPlainly);
  }

  #onKeydown(event) {
    const { code, key, altKey, ctrlKey, metaKey, shiftKey, target } = event;
    // Once the module is loaded, this runs before the focus moves; only the first Tab may be too early.
    if (code === 'Tab') (this.#tabStops ??= import('./tab_stops.js')).then((module) => module.updateScrollableTabStops(), () => {});
    const shortcut = shiftKey && (ctrlKey || metaKey || code === 'Escape') && SHORTCUTS[code];
    const dialog = ctrlKey !== metaKey && !altKey && !(shiftKey && key === 'K') && DIALOGS[key.toLowerCase()];
    const name = code === 'F2' && target.closest(LIST_ITEMS) ? 'rename' : shortcut || dialog;
    if (!name) return;
    event.preventDefault();
    if (dialog && document.querySelector('dialog[open]')) return;
    this.#withSidebar((sidebar) => sidebar.runShortcut(name, target));
  }

  /** Update the list of conversations after a change in another tab. */
  refreshList() {
    if (this.#sidebar || !document.hidden) this.#withSidebar((sidebar) => sidebar.refreshSoon());
  }

  /** Show a title that was changed elsewhere. */
  showTitle(title) {
    this.#withSidebar((sidebar) => sidebar.showTitle(this.page.conversation, title));
  }

  /**
   * Announce only the beginning and the end: a screen reader that gets
   * every word of a stream can read nothing else.
   */
  #announce(name) {
    announce(name && this.page.text(name, this.#turn?.reply));
  }

  /**
   * Stream only while the page is visible. The run continues without a viewer, and the stream resumes at its position.
   */
  #watchVisibility() {
    let timer = 0;
    const changed = () => {
      clearTimeout(timer);
      const pause = () => this.#queue?.waiting || this.#stream?.pause();
      if (document.hidden) timer = setTimeout(pause, HIDDEN_PAUSE_MS);
      else this.#stream?.resume();
    };
    document.addEventListener('visibilitychange', changed);
    addEventListener('pagehide', () => this.#stream?.pause());
    addEventListener('pageshow', ({ persisted }) => persisted && this.#stream?.resume());
    addEventListener('online', () => this.#stream?.reconnectNow());
    changed();
    if (matchMedia('(pointer: coarse)').matches) visualViewport?.addEventListener('resize', () => this.#loadKeyboard());
  }

  /** Load virtual_keyboard.js once an on-screen keyboard covers a part of the page. */
  #loadKeyboard() {
    if (visualViewport.height > innerHeight - 1) return;
    this.#keyboard ??= import('./virtual_keyboard.js').then((module) => module.liftAboveKeyboard(() => this.followEnd()), () => {});
  }
}

/** Do what a page without scripts would do. */
function submitPlainly(element) {
  if (element.type === 'submit') element.form?.requestSubmit(element);
  else element.submit?.();
}

new Chat(new Page(document.getElementById('chat'))).start();
