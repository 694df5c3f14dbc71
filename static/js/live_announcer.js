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
let article = null; // of the reply that is being written
let announced = 0; // blocks of it
let timer = 0;
let clearTimer = 0;

function update() {
  // Nothing is announced at the end of a reply that the server did not accept, or that a new copy of the page replaced.
  if (article && !article.isConnected) stop();
  if (!article) {
    article = thread.querySelector(LIVE_REPLY);
    announced = article ? completeBlocks().length : 0;
  } else if (!article.matches(LIVE_REPLY)) finish();
  else if (completeBlocks().length > announced) timer ||= setTimeout(announceMore, ANNOUNCE_DELAY_MS);
}

/** Return the complete blocks: the last one of a live reply may still grow. */
function completeBlocks() {
  const blocks = Array.from(article.querySelector('[data-part=text]').children);
  return article.matches(LIVE_REPLY) ? blocks.slice(0, -1) : blocks;
}

/** @returns {string} the text of the blocks that became complete since the last call */
function nextText() {
  const blocks = completeBlocks();
  const text = blocks.slice(announced).map(textOf).filter(Boolean).join('\n');
  announced = Math.max(announced, blocks.length); // after a reset the same text comes again
  return text;
}

/** Return a block's text: code without its button, and table cells on separate lines. */
function textOf(block) {
  const parts = block.matches('figure') ? block.querySelectorAll('figcaption, code') : [block];
  return Array.from(parts, (part) => part.innerText.trim()).join('\n');
}

function announceMore() {
  timer = 0;
  announce(nextText());
}

function finish() {
  announce([nextText(), endText()].filter(Boolean).join('\n'));
  stop();
}

function endText() {
  if (article.dataset.status === 'complete') return region.dataset.finished;
  const { textContent: status } = article.querySelector('[data-part=status-text]');
  return region.dataset.ended.replace('{state}', () => status.trim());
}

function stop() {
  clearTimeout(timer);
  timer = 0;
  article = null;
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
