import { Composer } from './composer.js';
import { drafts, isReloadedToSend, reloadToSend } from './drafts.js';
import { ScrollFollower, addCodeActions, addTableCopy, announce, page } from './page.js';

const SHORTCUTS = { KeyO: 'new-chat', KeyS: 'fold', Escape: 'composer' }; // with Ctrl+Shift; Escape with Shift
const DIALOGS = { k: 'search', '/': 'shortcuts' }; // with Ctrl or Cmd; some keyboards have / with Shift
const LIST_ITEMS = '#conversations li'; // F2 on one of these renames it
const RETRY_MS = 1_000;
const SYNC_DELAY_MS = 1_500; // modules that the page needs at once are loaded first

/** The controller of the page. Modules that are loaded on demand get it as `chat`, and use its public members. */
class Chat {
  loading; // true until the tray has the files that were chosen
  queue = null; // message_queue.js's queue, once it is loaded
  thread = document.getElementById('thread');
  follower = new ScrollFollower(document.getElementById('jump'));
  composer = new Composer(document.getElementById('composer'), {
    send: (text) => this.#send(text),
    stop: () => this.#stop(),
    editLast: () => this.#editLast(),
    resized: () => this.followEnd(),
  });
  #turns = null;
  #sidebar = null;
  #sync = null;

  start() {
    for (const type of ['click', 'submit']) this.thread.parentElement.addEventListener(type, (event) => this.#dispatch(event));
    document.getElementById('sign-out').addEventListener('submit', () => drafts.clear());
    // A selection may begin before it is known what will be in it, and copying cannot wait for a module.
    document.addEventListener('selectstart', ({ target }) => target.matches?.('textarea, input') || import('./copy_selection.js'));
    for (const type of ['dragover', 'drop']) document.addEventListener(type, (event) => this.onFiles(event, event.dataTransfer));
    document.addEventListener('change', ({ target }) => target.type === 'file' && this.addFiles(target));
    document.getElementById('content').addEventListener('input', ({ target }) => target.value === '/' && import('./prompt_menu.js').then((module) => module.openPrompts(target), () => {}));
    const kept = drafts.load(`attachments-${page.draft}`);
    if (kept) this.#useAttachments((module) => module.putBack(this, JSON.parse(kept)));
    watchConnection();
    this.#watchSidebar();
    this.#restoreScroll();
    if (document.activeElement === document.body) this.composer.focus();
    this.setUpArticles();
    const load = () => this.#sync || this.startSync();
    setTimeout(load, drafts.load(`queue-${page.draft}`) || history.state?.settings ? 0 : SYNC_DELAY_MS);
    // Earlier for the first key or movement: the next one may be one of the shortcuts that it adds.
    for (const type of ['keydown', 'input', 'pointermove']) addEventListener(type, load, { once: true });
    // Once the reader has left the end, there is a place to keep over a reload.
    addEventListener('scroll', () => this.follower.following || load());
    if (isReloadedToSend) this.composer.send();
  }

  /** True if a reply is on its way to this page. */
  get busy() {
    return this.#turns?.busy ?? false;
  }

  /** Disable the buttons that request a reply while one is on its way. They stay in place. */
  updateTurnButtons(root = this.thread) {
    const disabled = String(this.busy);
    for (const button of root.querySelectorAll('[data-turn]')) {
      if (button.ariaDisabled !== disabled) button.ariaDisabled = disabled;
    }
  }

  #followLive() {
    const live = this.thread.querySelector(':is([data-status=running], [data-status=queued], [data-status=waiting])');
    if (live && !this.busy) this.#follow(live);
  }

  /** Set up articles from the server that were not in the thread before. */
  setUpArticles() {
    addCodeActions(this.thread);
    for (const type of ['pointerover', 'focusin']) this.thread.addEventListener(type, addTableCopy);
    this.updateTurnButtons();
    this.#followLive();
    if (this.thread.querySelector('[data-action=wait][hidden]')) {
      import('./outcome.js').then((module) => module.startCountdowns(this, this.thread));
    }
    if (this.thread.querySelector('.older')) import('./older_messages.js').then((module) => module.watchOlderLink(this));
    this.reopenEdits();
  }

  /** Reopen the edits that were in progress when this tab last showed their messages. */
  reopenEdits() {
    if (drafts.names('edit-').length) import('./edit.js').then((module) => module.reopenEdits(this));
  }

  /** Load turns.js, and background.js: sync.js, which adds the turns of others, the queue, and what can wait. */
  startSync() {
    const load = () => Promise.all([import('./background.js'), this.#loadTurns()]);
    const loading = (this.#sync ??= load().then(([module]) => {
      this.#followLive();
      return module.startBackground(this);
    }));
    loading.then((sync) => sync.notifyTabs(), () => (this.#sync = null));
    return loading;
  }

  #restoreScroll() {
    if (location.hash) return this.follower.release();
    history.scrollRestoration = 'manual';
    if (!page.conversation) return undefined;
    const jump = () => this.follower.jump();
    if (performance.getEntriesByType('navigation')[0]?.type === 'navigate') return jump(); // not a reload, nor Back
    return import('./older_messages.js').then(async (module) => (await module.restorePosition(this)) || jump(), jump);
  }

  /** Keep the end in view for a reader who is there, after the page changed its height. */
  followEnd() {
    this.follower.follow();
  }

  // Actions

  /** Load the handler of a `[data-action]` when it is first used. If that fails, a form is submitted as without scripts. */
  #dispatch(event) {
    const element = event.target.closest('[data-action]');
    if (!element || (event.type === 'click' && element.matches('form'))) return;
    event.preventDefault();
    import('./message_actions.js').then((module) => module.dispatch(this, element), () => submitPlainly(element));
  }

  #editLast() {
    if (this.queue?.editLast()) return;
    const edits = this.thread.querySelectorAll('.question [data-action=edit]');
    if (!this.busy && edits.length) edits[edits.length - 1].click();
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
    import('./attachments.js').then(use).catch(() => page.showNotice('not-loaded')).then(() => (this.loading = false));
  }

  #send(content) {
    if (this.#turns) this.#turns.send(content);
    else if (!this.composer.busy) this.#sendLater();
  }

  /** Load what sends, for as long as that takes. The message box keeps the text meanwhile. */
  async #sendLater() {
    this.composer.busy = 'live';
    while (this.composer.busy === 'live' && !(await this.#loadTurns().catch(() => reloadToSend(page.draft)))) {
      page.showNotice(navigator.onLine ? 'sending-again' : 'queued');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    const isWanted = this.composer.busy === 'live';
    this.composer.busy = '';
    page.clearNotice('sending-again', 'queued');
    if (isWanted) this.composer.send();
  }

  #stop() {
    this.composer.busy = 'stopping';
    this.queue?.onStop();
    this.#turns?.stop();
  }

  #follow(article) {
    if (this.#turns) return this.#turns.follow(article);
    return this.#loadTurns().then((turns) => article.isConnected && turns.follow(article), () => {}); // startSync tries again
  }

  async #loadTurns() {
    const { Turns } = await import('./turns.js');
    return (this.#turns ??= new Turns(this));
  }

  /** @see Turns.request */
  async requestReply(wanted) {
    const turns = this.#turns ?? (await this.#loadTurns().catch(() => page.showNotice('not-loaded')));
    return turns ? turns.request(wanted) : false;
  }

  // The sidebar and the header

  /** Load the sidebar's module when the sidebar or the header is first used, or has something to show. */
  #watchSidebar() {
    const parts = document.querySelectorAll('#sidebar, .topbar');
    const load = () => document.hidden || this.withSidebar(() => {});
    for (const type of ['pointerover', 'focusin', 'toggle']) {
      for (const part of parts) part.addEventListener(type, load, { once: true });
    }
    document.addEventListener('visibilitychange', () => this.refreshSidebar((sidebar) => sidebar.onVisibilityChange()));
    document.addEventListener('click', (event) => this.#onOpener(event));
    document.addEventListener('keydown', (event) => this.#onKeydown(event));
    if (document.querySelector('#sidebar :is([data-state], [data-unseen]), #toast form')) load();
  }

  withSidebar(then, otherwise = () => {}) {
    const loading = (this.#sidebar ??= import('./sidebar.js').then((module) => new module.Sidebar()));
    loading.then(then, () => {
      this.#sidebar = null;
      otherwise();
    });
  }

  refreshSidebar(refresh) {
    if (this.#sidebar || !document.hidden) this.withSidebar(refresh);
  }

  setMark(state, { conversation } = page) {
    this.withSidebar((sidebar) => sidebar.setMark(conversation, state));
  }

  #onOpener(event) {
    const opener = event.target.closest('[data-opens]');
    if (!opener) return;
    event.preventDefault();
    if (opener.id === 'print') return import('./print.js').then(({ printChat }) => printChat(this), () => print());
    // Without the module, the button of a menu opens it, and the button of a form submits it.
    const openPlainly = () => (opener.form ? submitPlainly(opener) : opener.popoverTargetElement?.togglePopover());
    this.withSidebar((sidebar) => sidebar.act(opener.dataset.opens, opener), openPlainly);
  }

  #onKeydown(event) {
    const { code, key, altKey, ctrlKey, metaKey, shiftKey, target } = event;
    const shortcut = shiftKey && (ctrlKey || metaKey || code === 'Escape') && SHORTCUTS[code];
    const dialog = ctrlKey !== metaKey && !altKey && !(shiftKey && key === 'K') && DIALOGS[key.toLowerCase()];
    const name = code === 'F2' && target.closest(LIST_ITEMS) ? 'rename' : shortcut || dialog;
    if (!name) return;
    event.preventDefault();
    if (dialog && document.querySelector('dialog[open]')) return;
    this.withSidebar((sidebar) => sidebar.act(name, target));
  }
}

/** Show a banner while there is no network. The person can go on writing, and a sent message waits for the network. */
function watchConnection() {
  const banner = document.getElementById('offline');
  const changed = (event) => {
    banner.hidden = navigator.onLine;
    if (event) announce(navigator.onLine ? '' : banner.textContent);
  };
  for (const type of ['online', 'offline']) addEventListener(type, changed);
  changed();
}

/** Do what a page without scripts would do. */
function submitPlainly(element) {
  if (element.type === 'submit') element.form?.requestSubmit(element);
  else element.submit?.();
}

new Chat().start();
