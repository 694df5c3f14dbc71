const TOAST_MS = 12_000; // not counted while the pointer or the focus is on the toast

/** Shows the last action, with a way to undo it. There is one toast at a time, above everything else. */
export class Toast {
  #box = document.getElementById('toast');
  #timer = 0;
  #onClose = () => {};

  constructor() {
    for (const type of ['pointerenter', 'focusin']) this.#box.addEventListener(type, () => clearTimeout(this.#timer));
    for (const type of ['pointerleave', 'focusout']) this.#box.addEventListener(type, () => this.#scheduleClose());
    this.#box.addEventListener('keydown', (event) => event.key === 'Escape' && this.close());
    document.getElementById('sidebar').addEventListener('toggle', () => this.#onDrawerToggle());
    if (this.#box.firstElementChild) this.#scheduleClose();
  }

  /**
   * @param {HTMLElement|string} what
   * @param {{focus?: HTMLElement, onClose?: () => void}} [then]  the element in it that gets the focus; a
   *   callback for a toast that had the focus when it closed
   */
  show(what, { focus, onClose = () => {} } = {}) {
    this.close();
    this.#onClose = onClose;
    this.#showOnTop();
    this.#box.replaceChildren(typeof what === 'string' ? sentence(what) : what);
    focus?.focus();
    this.#scheduleClose();
  }

  /**
   * Show the toast above an open drawer, which is in the top layer too, and inside it,
   * because a touch outside closes the drawer.
   */
  #showOnTop() {
    this.#box.popover = 'manual';
    (document.querySelector('#sidebar:popover-open') ?? document.body).append(this.#box);
    this.#box.showPopover();
  }

  /** Keep the toast in place when the drawer closes. */
  #onDrawerToggle() {
    if (this.#box.hasChildNodes() && this.#box.parentElement !== document.body) this.#showOnTop();
  }

  close() {
    clearTimeout(this.#timer);
    const focused = this.#box.contains(document.activeElement);
    this.#box.replaceChildren();
    if (this.#box.matches('[popover]')) this.#box.hidePopover();
    if (focused) this.#onClose();
    this.#onClose = () => {};
  }

  #scheduleClose() {
    clearTimeout(this.#timer);
    if (this.#box.matches(':hover, :focus-within')) return;
    this.#timer = setTimeout(() => this.close(), TOAST_MS);
  }
}

function sentence(text) {
  const paragraph = document.createElement('p');
  paragraph.className = 'toast';
  paragraph.textContent = text;
  return paragraph;
}
