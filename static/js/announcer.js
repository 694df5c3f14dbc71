/**
 * Says a reply while it is written, for those who chose that: each block, as soon as it is whole, is put where a
 * screen reader finds it. A page loads this only then. It watches the page and changes nothing of it.
 */
const PAUSE = 2_000; // milliseconds: what becomes whole within them is said in one go
const FORGOTTEN_AFTER = 10_000; // milliseconds; what was said is not found a second time at the end of the page
const LIVE = '.reply[aria-busy=true]';

const region = document.getElementById('spoken');
const thread = document.getElementById('thread');

/** One reply: how much of it was said. */
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

  /** A reply that nobody took, or that gave way to a fresh copy of the page, has no last words. */
  get gone() {
    return !this.#article.isConnected;
  }

  /** Is there something to say? */
  get goesOn() {
    return this.#whole > this.#said;
  }

  /** @returns {string} what became whole since the last call */
  next() {
    const whole = this.#whole;
    const fresh = Array.from(this.#blocks).slice(this.#said, whole);
    this.#said = Math.max(this.#said, whole); // after a reset the same text comes again
    return fresh.map(spoken).filter(Boolean).join('\n');
  }

  /** @returns {string} the last words */
  get ending() {
    if (this.#article.dataset.status === 'complete') return region.dataset.finished;
    const { textContent: state } = this.#article.querySelector('[data-part=state]');
    return region.dataset.ended.replace('{state}', () => state.trim());
  }

  /** The last block of a live reply may still grow. */
  get #whole() {
    return Math.max(0, this.#blocks.length - (this.live ? 1 : 0));
  }

  get #blocks() {
    return this.#article.querySelector('[data-part=text]').children;
  }
}

/** A block's words; of code not its button, and cells apart from each other. */
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
