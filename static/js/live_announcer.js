/**
 * Announces a reply while it is written, for people who chose that: each complete block is copied into a
 * live region for screen readers. The page loads this module only if that setting is on. The module
 * observes the thread and changes nothing in it.
 */
const ANNOUNCE_DELAY_MS = 2_000; // blocks that become complete within this time are announced together
const CLEAR_AFTER_MS = 10_000; // a later reader of the page must not find the text twice
const LIVE_REPLY = '.reply[aria-busy=true]';

const region = document.getElementById('spoken');
const thread = document.getElementById('thread');

/** The announcements of one reply, with the number of blocks that were announced. */
class ReplyAnnouncer {
  #article;
  #announced;

  constructor(article) {
    this.#article = article;
    this.#announced = this.#completeBlocks;
  }

  get live() {
    return this.#article.matches(LIVE_REPLY);
  }

  /**
   * True if the article left the page. Nothing is announced at the end of a reply that the server did not
   * accept, or that a new copy of the page replaced.
   */
  get isRemoved() {
    return !this.#article.isConnected;
  }

  /** True if there are complete blocks that were not announced. */
  get hasMore() {
    return this.#completeBlocks > this.#announced;
  }

  /** @returns {string} the text of the blocks that became complete since the last call */
  next() {
    const count = this.#completeBlocks;
    const complete = Array.from(this.#blocks).slice(this.#announced, count);
    this.#announced = Math.max(this.#announced, count); // after a reset the same text comes again
    return complete.map(textOf).filter(Boolean).join('\n');
  }

  /** @returns {string} the announcement of the end */
  get endText() {
    if (this.#article.dataset.status === 'complete') return region.dataset.finished;
    const { textContent: status } = this.#article.querySelector('[data-part=status-text]');
    return region.dataset.ended.replace('{state}', () => status.trim());
  }

  /** The number of complete blocks. The last block of a live reply may still grow. */
  get #completeBlocks() {
    return Math.max(0, this.#blocks.length - (this.live ? 1 : 0));
  }

  get #blocks() {
    return this.#article.querySelector('[data-part=text]').children;
  }
}

/** Return a block's text: code without its button, and table cells on separate lines. */
function textOf(block) {
  const parts = block.matches('figure') ? block.querySelectorAll('figcaption, code') : [block];
  return Array.from(parts, (part) => part.innerText.trim()).join('\n');
}

let announcer = null;
let timer = 0;
let clearTimer = 0;

function update() {
  if (announcer?.isRemoved) stop();
  if (!announcer) {
    const live = thread.querySelector(LIVE_REPLY);
    if (live) announcer = new ReplyAnnouncer(live);
  } else if (!announcer.live) finish();
  else if (announcer.hasMore) timer ||= setTimeout(announceMore, ANNOUNCE_DELAY_MS);
}

function announceMore() {
  timer = 0;
  announce(announcer.next());
}

function finish() {
  announce([announcer.next(), announcer.endText].filter(Boolean).join('\n'));
  stop();
}

function stop() {
  clearTimeout(timer);
  timer = 0;
  announcer = null;
}

function announce(text) {
  if (!text) return;
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  region.append(paragraph);
  clearTimeout(clearTimer);
  clearTimer = setTimeout(() => region.replaceChildren(), CLEAR_AFTER_MS);
}

new MutationObserver(update).observe(thread, { subtree: true, childList: true, attributeFilter: ['aria-busy'] });
update();
