import { drafts } from './drafts.js';
import { glide } from './glide.js';
import { page } from './page.js';
import { Reply } from './reply.js';
import { Turn, appendArticle } from './turn.js';

const HIDDEN_PAUSE_MS = 10_000; // on HTTP/1.1 all tabs of a site share six connections

/** Sends questions and other requests for a reply, one at a time. */
export class Turns {
  #chat;
  #turn = null; // in progress

  constructor(chat) {
    this.#chat = chat;
    this.#watchVisibility();
    if (page.temporary) deleteOnLeave();
  }

  /** True if a reply is on its way to this page. */
  get busy() {
    return this.#turn !== null;
  }

  /** Send the text of the message box, unless it is the command of a prompt. */
  send(content, isQuestion = false) {
    if (this.#chat.loading) return;
    const send = () => this.send(content, true);
    if (content[0] === '/' && !isQuestion) return import('./prompt_menu.js').then((module) => module.takeTyped(content, send), send);
    if (this.busy) return this.#enqueue(content);
    this.request({ body: { content }, question: content, attachments: this.#chat.composer.takeText(), typed: true });
  }

  /** Let a message wait for the end of the reply. */
  #enqueue(content) {
    const { composer } = this.#chat;
    const attachments = composer.takeText();
    const add = () => {
      composer.onAccepted();
      this.#chat.queue.add(content, attachments);
    };
    const giveBack = () => {
      composer.restoreText();
      page.showNotice('not-loaded');
    };
    this.#chat.startSync().then(add, giveBack);
  }

  /**
   * Request a reply and stream it.
   * @param {object} wanted
   * @param {string} [wanted.url]  none: the next turn of this conversation
   * @param {object} wanted.body  the request body; without `client_key` it gets the draft's, and in the next turn
   *   what the composer is set to, as far as it names nothing else
   * @param {string} [wanted.question]  shown at once
   * @param {object[]} [wanted.attachments]  of the question: see attachment_parts.js
   * @param {HTMLElement} [wanted.reply]  the article that is continued; none: a new one at the end
   * @param {Element[]} [wanted.replaced]  articles that are removed once the server has accepted the request
   * @param {boolean} [wanted.typed]  the question was in the message box, and returns there if it is refused
   * @returns {Promise<boolean>} whether the server accepted it
   */
  request({ url, body, question, attachments, reply, replaced = [], typed = false }) {
    if (this.busy) return Promise.resolve(false);
    page.showNotice('');
    const moved = replaced.some((article) => article.contains(document.activeElement));
    return new Promise((onDecided) => {
      const request = this.#buildRequest(url, { ...body, attachments: attachments?.map(({ id }) => id) });
      const dock = page.conversation ? null : document.querySelector('.composer-dock');
      const top = dock?.getBoundingClientRect().top;
      const shownQuestion = question === undefined ? null : appendArticle('question', question);
      if (attachments?.length) import('./attachment_parts.js').then((module) => module.showAttachments(this.#chat, shownQuestion, attachments), () => {});
      const shownReply = reply ? this.#replyIn(reply) : this.#appendReply(request.body.model);
      this.#begin({ reply: shownReply, continues: Boolean(reply), question: shownQuestion, replaced, typed, request, onDecided });
      if (moved) this.#chat.composer.focus();
      this.#chat.follower.jump();
      if (dock) glide(dock, top);
      this.#turn.send();
    });
  }

  /** Follow the reply of an article from the server's page. */
  follow(article) {
    if (this.busy) return;
    this.#begin({ reply: this.#replyIn(article) });
    this.#turn.follow();
  }

  stop() {
    this.#turn?.stream.stop();
  }

  #buildRequest(url, message) {
    const next = page.conversation ? page.url('send', page.conversation) : page.url('new');
    const wanted = url ? { url, body: message } : { url: next, body: { ...this.#chat.composer.settings, ...message } };
    const client_key = message.client_key ?? drafts.keyFor(page.draft, { url: wanted.url, ...wanted.body });
    return { url: `${wanted.url}?html=1`, body: { ...wanted.body, client_key } };
  }

  #begin(shown) {
    this.#turn = new Turn(this.#chat, shown, (outcome) => this.#onEnd(outcome));
    this.#chat.updateTurnButtons();
  }

  #onEnd(outcome) {
    const turn = this.#turn;
    const { composer, thread } = this.#chat;
    this.#turn = null;
    composer.busy = '';
    this.#chat.updateTurnButtons();
    turn.finish(outcome);
    page.clearNotice('busy', 'busy-kept');
    for (const error of thread.querySelectorAll('.message-error[data-code=busy]')) error.remove();
    // Another window was first: its question and reply are shown, and this question is back in the box.
    if (outcome.kind === 'busy') page.showNotice(turn.typed ? 'busy-kept' : 'busy');
    this.#chat.followEnd();
    this.#chat.startSync();
    this.#chat.queue?.onEnd(outcome.kind, turn.reply.article.dataset.status);
  }

  /** Add an article for a reply. Only the latest reply has room to grow into: see `.latest` in chat.css. */
  #appendReply(model) {
    for (const article of this.#chat.thread.querySelectorAll('.latest')) article.classList.remove('latest');
    const article = appendArticle('reply');
    article.classList.add('latest');
    const reply = this.#replyIn(article);
    reply.model = page.modelName(model);
    return reply;
  }

  #replyIn(article) {
    return new Reply(article, () => this.#chat.followEnd());
  }

  /**
   * Stream only while the page is visible. The run continues without a viewer, and the stream resumes at its position.
   */
  #watchVisibility() {
    let timer = 0;
    const pause = () => {
      if (!this.#turn || this.#chat.queue?.willSend) return;
      if (!this.#turn.accepted) return void (timer = setTimeout(pause, HIDDEN_PAUSE_MS)); // it is still being sent
      this.#turn.stream.pause();
      import('./ready_mark.js').then((module) => module.watchEnd(), () => {});
    };
    const changed = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(pause, HIDDEN_PAUSE_MS);
      else this.#turn?.stream.resume();
    };
    document.addEventListener('visibilitychange', changed);
    addEventListener('pagehide', () => this.#turn?.stream.pause());
    addEventListener('pageshow', ({ persisted }) => persisted && this.#turn?.stream.resume());
    addEventListener('online', () => this.#turn?.stream.reconnectNow());
    changed();
  }
}

/**
 * Delete the open temporary chat when its page is left, but not for a posted form, which leads back to it. If the
 * browser ends without an event, the server deletes the chat within a day.
 */
function deleteOnLeave() {
  let staying = false;
  addEventListener('submit', ({ target, defaultPrevented }) => {
    if (!defaultPrevented && target.method === 'post') staying = true;
  });
  addEventListener('pagehide', () => {
    if (staying || !page.conversation) return;
    page.post(page.url('delete', page.conversation), {}, { keepalive: true }).catch(() => {});
  });
}
