import { attachmentsOf, loadParts, peekParts } from './attachment_parts.js';
import { AttachmentTray } from './attachment_tray.js';
import { drafts } from './drafts.js';
import { cloneTemplate, page } from './page.js';

const SILENCE_MS = 1_000; // browsers repeat `dragover` at least every 0.35 s while files are over the page
const LEAVE_MS = 400; // Safari reports each element that is left as if it were the window

/** Add files to the question that is being written, or edited where the event was. */
export async function addFiles(chat, files, target) {
  const edit = target?.closest?.('.edit');
  if (!document.getElementById('files')) return page.showNotice('no-files');
  try {
    (edit ? await editTray(chat, edit) : await composerTray(chat)).add(files);
  } catch (error) {
    console.warn(error);
    offerAgain(chat, { files, target });
  }
  return undefined;
}

/** Keep files for which there is no tray yet: pasted ones are nowhere else. */
function offerAgain(chat, source) {
  const button = Object.assign(page.link('not-loaded', ''), { role: 'button' });
  button.addEventListener('click', (event) => {
    event.preventDefault();
    page.setNotice('');
    chat.addFiles(source, source.target);
  });
  page.setNotice('', button);
}

/** @returns {Promise<AttachmentTray>} the attachments of the message box */
async function composerTray(chat) {
  const { composer } = chat;
  const words = await loadParts();
  composer.attachments ??= new AttachmentTray({
    words,
    before: document.querySelector('#composer .attach'),
    resized: () => chat.followEnd(),
    changed: (attachments) => drafts.save(`attachments-${page.draft}`, attachments.length ? JSON.stringify(attachments) : ''),
  });
  return composer.attachments;
}

/** Put attachments into the message box: a queued message's, or those that were in it when the page was left. */
export async function putBack(chat, attachments) {
  (await composerTray(chat)).put(attachments);
}

/** @returns {Promise<AttachmentTray>} the attachments of an edited question: at first those that it has */
export async function editTray(chat, form, attachments = attachmentsOf(form.closest('article'))) {
  const words = await loadParts();
  const changed = () => form.dispatchEvent(new Event('input'));
  form.attachments ??= new AttachmentTray({ words, before: form.elements.content, changed }, attachments);
  return form.attachments;
}

let shown = null; // the hint of the drag that goes on

/**
 * Show where files that are dragged over the page can be dropped: an edited question, or else the message box. To be
 * called again and again while they are dragged.
 */
export function showDropHint(target) {
  if (!document.getElementById('files')) return; // the site takes none
  shown ??= new DropHint();
  shown.over(target);
}

class DropHint {
  #element = null;
  #target;
  #timer = 0;
  #listeners = new AbortController();

  constructor() {
    const { signal } = this.#listeners;
    const end = () => this.#end();
    document.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget || this.#endAfter(LEAVE_MS), { signal });
    for (const type of ['drop', 'dragend']) document.addEventListener(type, end, { signal });
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && end(), { signal });
    peekParts().then(() => this.#show(), end);
  }

  over(target) {
    this.#target = target;
    if (this.#element) this.#place();
    this.#endAfter(SILENCE_MS);
  }

  #show() {
    if (this.#listeners.signal.aborted) return;
    this.#element = cloneTemplate('drop-template');
    this.#place();
  }

  #place() {
    const box = this.#target.closest?.('.edit') ?? document.getElementById('composer');
    if (this.#element.parentElement !== box) box.append(this.#element);
  }

  #endAfter(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), milliseconds);
  }

  #end() {
    clearTimeout(this.#timer);
    this.#listeners.abort();
    this.#element?.remove();
    if (shown === this) shown = null;
  }
}
