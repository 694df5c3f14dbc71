import { Composer, Outbox } from './composer.js';
import { RunStream } from './stream.js';
import { Follower, Reply, Turn, Words, copy, identify, titleOf } from './transcript.js';

const ANY_ID = '00000000-0000-0000-0000-000000000000'; // in place of an id in data-url-* attributes
const LET_GO_AFTER = 10_000; // milliseconds hidden; on HTTP/1.1 all tabs of a site share six connections

class Chat {
  #page;
  #words;
  #outbox;
  #composer;
  #follower;
  #thread = document.getElementById('thread');
  #stream = null;
  #turn = null;

  constructor(page) {
    this.#page = page;
    this.#words = new Words(page);
    this.#outbox = Outbox.open(page.dataset.user);
    this.#follower = new Follower(document.getElementById('jump'));
    this.#composer = new Composer(document.getElementById('composer'), this.#outbox, this.#draftName, {
      send: (text) => this.#ask(text),
      stop: () => this.#stop(),
      resized: () => this.#follower.follow(),
    });
  }

  start() {
    this.#thread.addEventListener('submit', (event) => this.#retry(event));
    document.getElementById('sign-out').addEventListener('submit', () => this.#outbox.purge());
    document.getElementById('model')?.addEventListener('change', () => this.#introduce());
    this.#comeAndGo();
    this.#goToEnd();
    this.#composer.focus();
    const live = this.#thread.querySelector('[data-status=running], [data-status=queued]');
    if (live) this.#resume(live);
  }

  get #conversation() {
    return this.#page.dataset.conversation;
  }

  get #draftName() {
    return this.#conversation || 'new';
  }

  #url(name, id = '') {
    return this.#page.getAttribute(`data-url-${name}`).replace(ANY_ID, id);
  }

  #goToEnd() {
    if (location.hash) return;
    history.scrollRestoration = 'manual';
    this.#follower.jump();
  }

  /** The empty page says who answers. */
  #introduce() {
    const name = document.getElementById('answers');
    if (name) name.textContent = this.#modelName(this.#composer.model);
  }

  #modelName(id) {
    const options = Array.from(document.getElementById('model')?.options ?? []);
    return options.find((option) => option.value === id)?.text ?? this.#page.dataset.modelName;
  }

  // Asking

  #ask(content) {
    if (this.#stream) return;
    this.#composer.hold();
    const question = this.#show('question', content);
    this.#send({ content }, { question, typed: true });
  }

  /** The same question again, beside the failed turn, which gives way once the server has the new one. */
  #retry(event) {
    const form = event.target;
    event.preventDefault();
    if (this.#stream) return;
    const failed = form.closest('article');
    const content = form.elements.content.value;
    const replaced = [failed.previousElementSibling, failed];
    const question = this.#show('question', content);
    this.#send({ content, parent: form.elements.parent.value || null }, { question, replaced });
  }

  #send(message, shown) {
    this.#say('');
    const reply = this.#replyIn(this.#show('reply'));
    reply.model = this.#modelName(this.#composer.model);
    this.#turn = new Turn({ reply, ...shown });
    this.#follower.jump();
    const url = this.#conversation ? this.#url('send', this.#conversation) : this.#url('new');
    const body = { ...message, model: this.#composer.model };
    const client_key = this.#outbox.keyFor(this.#draftName, { url, ...body });
    this.#open().send(url, { ...body, client_key });
  }

  #resume(article) {
    this.#turn = new Turn({ reply: this.#replyIn(article) });
    this.#turn.accept();
    this.#announce('replying');
    this.#open().follow(this.#turn.reply.run, this.#turn.reply.position);
  }

  #open() {
    this.#composer.busy = 'live';
    this.#stream = new RunStream({
      urls: { stream: (run) => this.#url('stream', run), stop: (run) => this.#url('stop', run) },
      token: this.#composer.token,
      on: this.#handlers(this.#turn.reply),
    });
    return this.#stream;
  }

  #stop() {
    this.#composer.busy = 'stopping';
    this.#stream?.stop();
  }

  // Hearing

  #handlers(reply) {
    return {
      accepted: () => this.#accepted(),
      busy: () => this.#busy(),
      open: () => reply.remark(''),
      meta: (meta) => this.#meet(meta),
      text: (piece) => reply.append(piece),
      reset: () => reply.reset(),
      problem: ({ message }) => reply.remark(message),
      waiting: () => reply.remark(this.#words.say(this.#turn.accepted ? 'resuming' : 'sending-again')),
      done: (done) => this.#done(done),
      end: (outcome) => this.#end(outcome),
    };
  }

  #accepted() {
    this.#turn.accept();
    this.#outbox.release(this.#draftName);
    if (this.#turn.typed) this.#composer.accepted();
    this.#announce('replying');
  }

  /** Another window asked first. Its reply is shown here, and this question goes back into the box. */
  #busy() {
    this.#turn.withdraw();
    if (this.#turn.typed) this.#composer.giveBack();
    this.#turn.accepted = true;
    this.#announce('replying');
    this.#say('busy', this.#link('show-all', location.href));
  }

  #meet(meta) {
    const { question, reply } = this.#turn;
    if (!this.#conversation && meta.conversation) this.#adopt(meta.conversation);
    if (question) identify(question, meta.user_message);
    reply.identify(meta);
    reply.model = this.#modelName(meta.model);
  }

  #done(done) {
    const { reply } = this.#turn;
    if (!reply.live) return;
    reply.finish(done);
    if (['failed', 'interrupted'].includes(done.status)) this.#offerRetry(reply);
    this.#announce(done.status === 'complete' ? 'finished' : 'ended');
    this.#follower.follow();
  }

  #offerRetry(reply) {
    const question = reply.question;
    // A page of older messages does not end with the reply that this question followed.
    if (!question || location.search) return;
    const form = copy('retry-template');
    form.elements.content.value = question.querySelector('[data-part=text]').textContent;
    form.elements.parent.value = question.previousElementSibling?.dataset.message ?? '';
    reply.add(form);
  }

  #end(outcome) {
    const turn = this.#turn;
    this.#stream = this.#turn = null;
    this.#composer.busy = '';
    if (outcome.kind === 'done') this.#settle(turn.reply);
    else if (turn.accepted) this.#lose(turn.reply, outcome);
    else this.#takeBack(turn, outcome);
    this.#follower.follow();
  }

  /** The run had ended before this page heard so, with nothing left to say. */
  #settle(reply) {
    if (reply.live) reply.finish({ status: 'complete' });
  }

  #lose(reply, outcome) {
    reply.leave(outcome.error?.message || this.#words.say('lost'));
    this.#explain(outcome);
  }

  #takeBack(turn, outcome) {
    turn.withdraw();
    turn.reply.remove();
    if (turn.typed) this.#composer.giveBack();
    // The next try of a refused message is a new send, unless signing in was all it lacked.
    if (outcome.kind === 'refused') this.#outbox.release(this.#draftName);
    this.#explain(outcome);
    this.#announce('');
  }

  #explain({ kind, status, error }) {
    if (kind === 'signed-out') {
      const next = encodeURIComponent(location.pathname);
      this.#say('signed-out', this.#link('sign-in', `${this.#url('login')}?next=${next}`));
    } else if (status === 403) this.#say('outdated', this.#link('reload', location.href));
    else if (kind === 'refused') this.#notice(error.message || this.#words.say('refused'));
    else if (kind === 'unreachable') this.#say(navigator.onLine ? 'unreachable' : 'offline');
  }

  // The page

  #show(kind, text = '') {
    const article = copy(`${kind}-template`);
    article.querySelector('[data-part=text]').append(text);
    this.#thread.append(article);
    return article;
  }

  #replyIn(article) {
    return new Reply(article, this.#words, () => this.#follower.follow());
  }

  /** A new conversation has its address now; Back leads away from it, not to its empty page. */
  #adopt(conversation) {
    const address = this.#url('conversation', conversation);
    const title = titleOf(this.#turn.question?.querySelector('[data-part=text]').textContent ?? '');
    this.#page.dataset.conversation = conversation;
    history.replaceState(null, '', address);
    this.#composer.moveTo(conversation, this.#url('send', conversation));
    this.#page.querySelector('h1').textContent = title;
    document.title = title;
    this.#list(address, title);
    document.getElementById('delete').action = this.#url('delete', conversation);
    document.getElementById('menu-button').hidden = false;
  }

  #list(address, title) {
    const list = document.getElementById('conversations');
    document.querySelector('#sidebar [aria-current]')?.removeAttribute('aria-current');
    const known = list.querySelector(`a[href="${address}"]`);
    const item = known?.closest('li') ?? copy('conversation-template');
    const link = item.querySelector('a');
    if (!known) link.textContent = title;
    link.href = address;
    link.ariaCurrent = 'page';
    list.prepend(item);
    list.hidden = false;
  }

  #say(name, link) {
    this.#notice(name && this.#words.say(name), link);
  }

  #notice(sentence, link) {
    const notice = document.getElementById('notice');
    notice.replaceChildren(sentence, ...(link ? [' ', link] : []));
  }

  #link(name, href) {
    const link = document.createElement('a');
    link.href = href;
    link.textContent = this.#words.say(name);
    return link;
  }

  /** Boundaries only: a screen reader that gets every word of a stream can read nothing else. */
  #announce(name) {
    const sentence = name && this.#words.say(name, { model: this.#turn?.reply.model });
    document.getElementById('status').textContent = sentence;
  }

  /** Only a page that is looked at streams; the run goes on without it, and is resumed where it was left. */
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
  }
}

new Chat(document.getElementById('chat')).start();
