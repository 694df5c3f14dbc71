import { fetchPart, postJson } from './api.js';
import { copy, copyText } from './clipboard.js';
import { drafts } from './drafts.js';
import { announce, page } from './page.js';
import { showVersion } from './thread.js';

const BESIDE = matchMedia('(width >= 64rem)'); // narrower windows show the text instead of the chat
const VIEWS = '.text-bar nav a[aria-current], h2';
const BUSY_MS = 300; // between looks whether a reply has ended
const SAVED = '[data-view=edit] textarea';

let beside = null; // the panel, once it was opened

/** Open a code block beside the chat; what can run opens running, because the button says so. */
export function openBlock(chat, button) {
  const article = button.closest('article');
  const number = Array.from(article.querySelectorAll('figure.code')).indexOf(button.closest('figure')) + 1;
  const url = `${textUrl(article.dataset.message)}?block=${number}`;
  return open(chat, button, 'run' in button.dataset ? `${url}&view=run` : url);
}

/** Open what changed between two versions of a message. */
export function openChanges(chat, link) {
  return open(chat, link, link.href);
}

/** Open a reply from its menu. @param {HTMLElement} opener  the button of the menu */
export function openReply(chat, opener) {
  return open(chat, opener, textUrl(opener.closest('article').dataset.message));
}

/** Open a page of a text in the panel. If it cannot be loaded, the page itself is opened. */
async function open(chat, opener, url) {
  beside ??= new TextBeside(chat);
  if (!(await beside.show(url, opener))) location.assign(url);
}

function textUrl(message) {
  return page.url('source', message).replace(/source\/$/, 'text/');
}

/** The panel beside the chat, on a narrow window in front of it. Its links lead to other views of the text. */
class TextBeside {
  #chat;
  #dialog = document.createElement('dialog');
  #opener = null;
  #wide = false;
  #later = 0;
  #wanted = ''; // the address that was asked for last

  constructor(chat) {
    this.#chat = chat;
    this.#dialog.className = 'beside';
    document.body.append(this.#dialog);
    this.#dialog.addEventListener('click', (event) => this.#onClick(event));
    this.#dialog.addEventListener('submit', (event) => this.#onSubmit(event));
    this.#dialog.addEventListener('input', ({ target }) => target.matches(SAVED) && drafts.save(this.#draft, target.value));
    this.#dialog.addEventListener('keydown', (event) => this.#onKeydown(event));
    this.#dialog.addEventListener('close', () => this.#onClose());
    addEventListener('popstate', () => this.#dialog.open && this.#dialog.close());
    new MutationObserver(() => this.#onThread()).observe(chat.thread, { subtree: true, attributeFilter: ['data-status'] });
  }

  /** @returns {Promise<boolean>} whether it could be loaded */
  async show(url, opener = this.#opener, focus = 'h2') {
    this.#wanted = url;
    const part = await fetchPart(url).catch(() => null);
    if (this.#wanted !== url) return true; // another one was asked for meanwhile
    if (!part) return false;
    this.#opener = opener;
    this.#dialog.replaceChildren(part);
    const heading = this.#dialog.querySelector('h2');
    this.#dialog.ariaLabel = heading.textContent;
    this.#setWide(this.#wide);
    if (this.#dialog.open) return this.#restoreDraft(focus);
    this.#open();
    return this.#reopenEdit() ?? this.#restoreDraft(focus);
  }

  get #text() {
    return this.#dialog.querySelector('.text-beside').dataset;
  }

  get #draft() {
    return `text-${this.#text.message}-${this.#text.block ?? 'all'}`;
  }

  #open() {
    if (BESIDE.matches) return this.#dialog.show();
    this.#dialog.showModal();
    history.pushState({ beside: true }, ''); // for the Back button
  }

  /** Go on with an edit that was not saved when the text was last open. */
  #reopenEdit() {
    const edit = this.#text.view === 'text' && this.#dialog.querySelector('.text-bar a[href*="view=edit"]');
    return edit && drafts.load(this.#draft) ? this.show(edit.href) : undefined;
  }

  #restoreDraft(focus) {
    const draft = drafts.load(this.#draft);
    const box = this.#dialog.querySelector(SAVED);
    if (box) {
      if (draft) box.value = draft;
      box.focus({ preventScroll: true });
      if (!draft) box.setSelectionRange(0, 0);
    } else if (focus) (this.#dialog.querySelector(focus) ?? this.#dialog.querySelector('h2')).focus({ preventScroll: true });
    return true;
  }

  #onClick(event) {
    const { target } = event;
    const link = target.closest('a');
    const button = target.closest('[data-do]');
    if (button) return this.#do(button.dataset.do, button);
    if (!link || link.hasAttribute('download') || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
    event.preventDefault();
    if (link.closest('.buttons')) drafts.save(this.#draft, ''); // Cancel
    return this.#follow(link.href, link.closest('nav') ? VIEWS : 'h2');
  }

  async #follow(url, focus) {
    if (!(await this.show(url, this.#opener, focus))) location.assign(url);
  }

  async #do(what, button) {
    if (what === 'close') return this.#dialog.close();
    if (what === 'wide') return this.#setWide(!this.#wide);
    if (what === 'print') return this.#print();
    const copied = await this.#copy();
    if (!copied) return page.showNotice('not-copied');
    return announce(page.text('copied')) ?? button.focus();
  }

  /** Copy code as it is shown, a reply or a letter as it looks, and a question as it was typed. */
  #copy() {
    const text = this.#dialog.querySelector('.text-body > :is(.text, .prose)');
    if (!text.matches('.text.prose')) return copyText(text.textContent);
    const rich = import('./rich_text.js').then(({ richText }) => richText([text]));
    return copy({ 'text/html': rich.then(({ html }) => html), 'text/plain': rich.then(({ text: plain }) => plain) });
  }

  #print() {
    document.body.classList.add('prints-text');
    addEventListener('afterprint', () => document.body.classList.remove('prints-text'), { once: true });
    print();
  }

  #setWide(wide) {
    this.#wide = wide;
    this.#dialog.classList.toggle('wide', wide);
    this.#dialog.querySelector('[data-do=wide]').ariaPressed = String(wide);
  }

  async #onSubmit(event) {
    event.preventDefault();
    const form = event.target;
    if (form.method === 'get') return this.#follow(`${form.action}?${new URLSearchParams(new FormData(form))}`, 'h2');
    const { message } = this.#text;
    const { data, error } = await postJson(form.action, { text: form.elements.text.value });
    if (error) return (form.querySelector('.error').textContent = error.message || page.text('not-saved'));
    drafts.save(this.#draft, '');
    const article = document.getElementById(`m-${message}`);
    if (article) await showVersion(this.#chat, article, data.message).catch(() => null);
    return this.#follow(textUrl(data.message) + (data.block ? `?block=${data.block}` : ''), 'h2');
  }

  #onKeydown(event) {
    if (event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation(); // it would stop the reply that is being written
    this.#dialog.close();
  }

  /** Show the new version of a text once a reply has brought one. */
  #onThread() {
    clearTimeout(this.#later);
    if (!this.#dialog.open || !('latest' in this.#text) || this.#text.view === 'edit') return undefined;
    if (this.#chat.busy) return (this.#later = setTimeout(() => this.#onThread(), BUSY_MS));
    const { message, block } = this.#text;
    const newest = Array.from(this.#chat.thread.querySelectorAll('.reply[data-message]')).at(-1);
    if (newest?.dataset.message === message) return undefined;
    return this.show(`${textUrl(message)}?latest=on${block ? `&block=${block}` : ''}`, this.#opener, this.#dialog.contains(document.activeElement) ? 'h2' : '');
  }

  #onClose() {
    this.#wanted = '';
    this.#dialog.replaceChildren(); // what runs in a frame ends
    if (history.state?.beside) history.back();
    const opener = this.#opener?.isConnected ? this.#opener : document.getElementById('content');
    opener.focus({ preventScroll: true });
  }
}
