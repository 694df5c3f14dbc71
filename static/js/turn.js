import { logIn } from './api.js';
import { drafts } from './drafts.js';
import { ANY_ID, announce, cloneTemplate, page } from './page.js';
import { RunStream } from './stream.js';

/** A question and its reply that are in progress: their elements on the page, their stream, and how to undo them. */
export class Turn {
  #chat;
  stream; // see stream.js
  #onEnd;
  accepted = false; // by the server
  #hasRenewed = false; // only the first 403 may be due to a CSRF token that a sign-in in another tab has replaced
  #statusBefore = ''; // the earlier status of a reply that is continued, '' for a new reply

  /**
   * @param {{reply: Reply, continues?: boolean, question?: Element, replaced?: Element[], typed?: boolean,
   *   request?: {url: string, body: object}, onDecided?: (accepted: boolean) => void}} shown
   * @param {(outcome: object) => void} onEnd  gets the end of the stream, see stream.js
   */
  constructor(chat, { reply, continues = false, question = null, replaced = [], typed = false, request, onDecided }, onEnd) {
    Object.assign(this, { reply, question, replaced, typed, request, onDecided });
    this.#chat = chat;
    this.#onEnd = onEnd;
    if (continues) this.#statusBefore = reply.markQueued();
    for (const article of replaced) article.hidden = true;
  }

  send() {
    this.#open().send(this.request.url, this.request.body);
  }

  /** Follow the run of a reply, which the server has accepted. */
  follow() {
    this.#accept();
    this.#announce('replying');
    this.#chat.setMark('replying');
    const { run, position } = this.reply.article.dataset;
    this.#open().follow(run, position);
  }

  /** Show how the turn ended. */
  finish(outcome) {
    if (outcome.kind === 'done') this.#onFinished();
    else if (this.accepted) this.#onLost(outcome);
    else this.#onRejected(outcome);
  }

  #open() {
    this.#chat.composer.busy = 'live';
    this.stream = new RunStream({
      urls: { stream: (run) => `${page.url('stream', run)}?html=1`, stop: (run) => page.url('stop', run) },
      token: page.token,
      on: {
        accepted: () => this.#onAccepted(),
        open: () => this.reply.remark(''),
        meta: (meta) => this.#onMeta(meta),
        text: (piece) => this.reply.append(piece),
        step: (payload) => this.#onStep(payload),
        reset: () => this.reply.reset(),
        problem: (problem) => this.#onProblem(problem),
        disconnected: () => this.reply.remark(page.text(this.#disconnectedText)),
        done: (done) => this.#onDone(done),
        end: (outcome) => this.#onStreamEnd(outcome),
      },
    });
    return this.stream;
  }

  #accept() {
    this.accepted = true;
    for (const article of this.replaced) article.remove();
    this.onDecided?.(true);
  }

  /** Restore the page as it was, because the server did not accept the turn. */
  #withdraw() {
    this.question?.remove();
    for (const article of this.replaced) article.hidden = false;
    if (this.#statusBefore) this.reply.status = this.#statusBefore;
    else this.reply.remove();
    this.onDecided?.(false);
  }

  /** Show a problem below the reply. An empty message removes it. */
  #onProblem({ code, message }) {
    this.reply.remark(message);
    if (code === 'not_saved') announce(message);
  }

  get #disconnectedText() {
    if (this.accepted) return 'resuming';
    return navigator.onLine ? 'sending-again' : 'queued';
  }

  #onAccepted() {
    this.#accept();
    drafts.clearKey(page.draft);
    // The line below the box names the keys until enough was sent; the server counts a new chat twice.
    const keys = this.question && document.querySelector('#hint [data-left]');
    if (keys && (keys.dataset.left -= page.conversation ? 1 : 2) <= 0) keys.remove();
    if (this.typed) this.#chat.composer.onAccepted();
    this.#announce('replying');
    this.#chat.startSync();
  }

  #onMeta(meta) {
    if (!page.conversation && meta.conversation) this.#onCreated(meta.conversation);
    if (this.question) setMessage(this.question, meta.user_message, meta.created);
    this.#chat.setMark('replying');
    setMessage(this.reply.article, meta.message, meta.created);
    this.reply.article.dataset.run = meta.run;
    this.reply.model = page.modelName(meta.model);
    if (hasFence(this.question)) import('./thread.js').then((module) => module.drawCode(this.#chat, this.question)).catch(() => {});
    // The server has taken another one, such as for a picture; the chat stays with it.
    const { model } = this.request?.body ?? {};
    if (model && model !== meta.model) import('./model_picker.js').then((module) => module.showChoice(meta.model), () => {});
    document.dispatchEvent(new Event('messageschange')); // sync.js shows their times
  }

  /** Give a new conversation its address. Back leads to the page before it, not to its empty page. */
  #onCreated(conversation) {
    const question = this.question?.querySelector('[data-part=text]').textContent || this.question?.querySelector('[data-name]')?.title || '';
    page.conversation = conversation;
    // A reload begins another temporary chat.
    if (!page.temporary) history.replaceState(null, '', page.url('conversation', conversation));
    this.#chat.composer.bind();
    this.#chat.queue?.bind();
    this.#chat.withSidebar((sidebar) => sidebar.addConversation(conversation, question));
  }

  #onStep(payload) {
    this.reply.showSteps(payload);
    if (this.reply.article.dataset.status === 'waiting') markIfHidden();
  }

  #onDone(done) {
    if (!this.reply.live) return;
    if (done.answered_by) this.reply.model = page.modelName(done.answered_by);
    this.reply.finish(done);
    this.#announce(done.status === 'complete' ? 'finished' : 'ended');
    markIfHidden();
    if (done.code || done.because || done.citations) this.#showOutcome(this.reply.article);
  }

  /**
   * Load the sources, the error's text and the buttons that belong to it. The retry button is enabled only with
   * them, and the buttons below come with them, because a button that moves while it is pressed loses the press.
   */
  #showOutcome(article) {
    const setUnsettled = (unsettled) => {
      article.toggleAttribute('data-unsettled', unsettled);
      article.querySelector('.retry')?.toggleAttribute('inert', unsettled);
    };
    const release = () => setUnsettled(false);
    setUnsettled(true);
    import('./outcome.js').then((module) => module.showOutcome(this.#chat, article)).then(release, release);
  }

  async #onStreamEnd(outcome) {
    const needsLogin = outcome.kind === 'signed-out' || (outcome.status === 403 && !this.#hasRenewed);
    if (needsLogin && this.stream.stopping && !this.accepted) this.#onEnd({ kind: 'cancelled' });
    else if (!needsLogin || !(await this.#login())) this.#onEnd(outcome);
  }

  /** Let the same person log in again without leaving the page, then continue the stream or repeat the request. */
  async #login() {
    this.#hasRenewed = true;
    const { position, stopping } = this.stream;
    if (!(await logIn())) return false;
    if (this.accepted) this.#open().follow(this.reply.article.dataset.run, position);
    else this.send();
    if (stopping) {
      this.#chat.composer.busy = 'stopping';
      this.stream.stop();
    }
    return true;
  }

  /** A run may have ended before this page noticed, so that no `done` event came. */
  #onFinished() {
    this.#chat.setMark('');
    if (this.reply.live) this.reply.finish({ status: 'complete' });
  }

  #onLost(outcome) {
    this.reply.abandon(outcome.error?.message || page.text('lost'));
    explainEnd(outcome);
  }

  #onRejected(outcome) {
    this.#withdraw();
    if (this.typed) this.#chat.composer.restoreText();
    // The next attempt of a refused message is a new send, unless only the sign-in was missing.
    if (outcome.kind === 'refused') drafts.clearKey(page.draft);
    explainEnd(outcome);
    announce('');
  }

  /**
   * Announce only the beginning and the end: a screen reader that gets
   * every word of a stream can read nothing else.
   */
  #announce(name) {
    announce(page.text(name, this.reply));
  }
}

function markIfHidden() {
  if (document.hidden) import('./ready_mark.js').then((module) => module.markReady(), () => {});
}

function explainEnd({ kind, status, error }) {
  if (kind === 'signed-out') {
    const next = encodeURIComponent(location.pathname);
    page.showNotice('signed-out', page.link('sign-in', `${page.url('login')}?next=${next}`));
  } else if (status === 403) page.showNotice('outdated', page.link('reload', location.href));
  else if (kind === 'refused') {
    page.setNotice(error.message || page.text('refused'), '', error.code);
    import('./outcome.js').then((module) => module.onRefused(error), () => {});
  } else if (kind === 'unreachable') page.showNotice('unreachable');
}

/** Return whether a question is folded. chat/views/conversations/thread.py does the same: a line counts as 50 characters more. */
export function isLongQuestion(text) {
  return text.length + 50 * text.split('\n').length > 2_500;
}

/** Return whether a question that was sent now may have code, which only the server draws. */
function hasFence(article) {
  const text = article?.querySelector('[data-part=text]');
  return text?.firstElementChild === null && /^(```|~~~)/m.test(text.textContent);
}

/** Add an article of a turn to the end of the thread. @param {'question'|'reply'} kind */
export function appendArticle(kind, text = '') {
  const article = cloneTemplate(`${kind}-template`);
  article.querySelector('[data-part=text]').textContent = text;
  article.classList.toggle('long', isLongQuestion(text));
  document.getElementById('thread').append(article);
  return article;
}

/** Give a newly stored article the id, the time, the anchor and the addresses that it has on the server's page. */
function setMessage(article, message, created = '') {
  article.dataset.message = message;
  article.id = `m-${message}`;
  article.querySelector('.at').dateTime ||= created;
  for (const name of ['action', 'formaction', 'href']) {
    for (const node of article.querySelectorAll(`[${name}*="${ANY_ID}"]`)) {
      node.setAttribute(name, node.getAttribute(name).replace(ANY_ID, message));
    }
  }
}
