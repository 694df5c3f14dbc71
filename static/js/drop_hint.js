import { peekParts } from './attachment_parts.js';
import { cloneTemplate } from './page.js';

const SILENCE_MS = 1_000; // browsers repeat `dragover` at least every 0.35 s while files are over the page
const LEAVE_MS = 400; // Safari reports each element that is left as if it were the window

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
