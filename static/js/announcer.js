/**
 * Announces a reply while it is written, for people who chose that: each complete block is copied into a
 * live region for screen readers. The page loads this module only if that setting is on. The module
 * observes the thread and changes nothing in it.
 */
const PAUSE = 2_000; // milliseconds: blocks that become complete within this time are announced together
const FORGOTTEN_AFTER = 10_000; // milliseconds; a later reader of the page must not find the text twice
const LIVE = '.reply[aria-busy=true]';

const region = document.getElementById('spoken');
const thread = document.getElementById('thread');

/** The announcements of one reply, with the number of blocks that were announced. */
class Speech {
  #article;
  #said;

  constructor(article) {
    this.#article = article;
    this.#said = this.#whole;
  }

  get live() {
    return this.#article.matches(LIVE);
  }

  /**
   * True if the article left the page. Nothing is announced at the end of a reply that the server did not
   * accept, or that a new copy of the page replaced.
   */
  get gone() {
    return !this.#article.isConnected;
  }

  /** True if there are complete blocks that were not announced. */
  get goesOn() {
    return this.#whole > this.#said;
  }

  /** @returns {string} the text of the blocks that became complete since the last call */
  next() {
    const whole = this.#whole;
    const fresh = Array.from(this.#blocks).slice(this.#said, whole);
    this.#said = Math.max(this.#said, whole); // after a reset the same text comes again
    return fresh.map(spoken).filter(Boolean).join('\n');
  }

  /** @returns {string} the announcement of the end */
  get ending() {
    if (this.#article.dataset.status === 'complete') return region.dataset.finished;
    const { textContent: state } = this.#article.querySelector('[data-part=state]');
    return region.dataset.ended.replace('{state}', () => state.trim());
  }

  /** The number of complete blocks. The last block of a live reply may still grow. */
  get #whole() {
    return Math.max(0, this.#blocks.length - (this.live ? 1 : 0));
  }

  get #blocks() {
    return this.#article.querySelector('[data-part=text]').children;
  }
}

/** Return a block's text: code without its button, and table cells on separate lines. */
function spoken(block) {
  const parts = block.matches('figure') ? block.querySelectorAll('figcaption, code') : [block];
  return Array.from(parts, (part) => part.innerText.trim()).join('\n');
}

let speech = null;
let timer = 0;
let forgetting = 0;

function look() {
  if (speech?.gone) stop();
  if (!speech) {
    const live = thread.querySelector(LIVE);
    if (live) speech = new Speech(live);
  } else if (!speech.live) finish();
  else if (speech.goesOn) timer ||= setTimeout(sayMore, PAUSE);
}

function sayMore() {
  timer = 0;
  say(speech.next());
}

function finish() {
  say([speech.next(), speech.ending].filter(Boolean).join('\n'));
  stop();
}

function stop() {
  clearTimeout(timer);
  timer = 0;
  speech = null;
}

function say(words) {
  if (!words) return;
  const paragraph = document.createElement('p');
  paragraph.textContent = words;
  region.append(paragraph);
  clearTimeout(forgetting);
  forgetting = setTimeout(() => region.replaceChildren(), FORGOTTEN_AFTER);
}

new MutationObserver(look).observe(thread, { subtree: true, childList: true, attributeFilter: ['aria-busy'] });
look();
