"""Scripts that watch a page. Those of a growing reply leave what they saw in `window.seen`."""

from playwright.sync_api import Page

# All layout shifts since the page was opened, and half a second more.
SHIFTS = """() => new Promise((settle) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (sum += value)))
    .observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => settle(sum), 500);
})"""

# Changes to the blocks of the growing reply: how often some changed, and which finished ones did.
BLOCKS = """() => {
  const seen = (window.seen = { updates: 0, touched: [], placed: 0 });
  const finished = new WeakSet();
  const text = [...document.querySelectorAll('.reply [data-part=text]')].at(-1);
  const blockOf = (node) => {
    while (node.parentNode && node.parentNode !== text) node = node.parentNode;
    return node;
  };
  new MutationObserver((records) => {
    seen.updates++;
    for (const { target, removedNodes, addedNodes } of records) {
      seen.placed += addedNodes.length;
      const changed = target === text ? [...removedNodes] : [blockOf(target)];
      for (const block of changed) if (finished.has(block)) seen.touched.push(block.textContent.slice(0, 60));
    }
    for (const block of [...text.children].slice(0, -1)) finished.add(block);
  }).observe(text, { childList: true, characterData: true, attributes: true, subtree: true });
}"""

# The layout shift, as https://wicg.github.io/layout-instability/ counts it, since the frame in which the text
# changed last, and where the last block stood then: what only scrolls is no shift. `apart`: the end of the
# run came after that frame.
MOVED = """() => {
  const seen = (window.seen = { since: 0, place: 0, apart: false });
  const shifts = [];
  const later = (done) => requestAnimationFrame(() => requestAnimationFrame(done));
  new MutationObserver((records) => {
    for (const { target, type } of records) {
      const node = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
      if (type !== 'attributes' && node?.closest('.reply [data-part=text]')) {
        seen.since = 0;
        later(() => Object.assign(seen, { since: performance.now(), place: window.placeOfEnd() }));
      } else if (target.dataset?.status === 'complete') seen.apart = seen.since > 0;
    }
  }).observe(document.getElementById('thread'), {
    childList: true, characterData: true, attributeFilter: ['data-status'], subtree: true,
  });
  new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: 'layout-shift' });
  const since = (at) => shifts.filter(({ startTime }) => startTime > at);
  window.placeOfEnd = () =>
    [...document.querySelectorAll('.reply [data-part=text] > *')].at(-1).getBoundingClientRect().top;
  window.movedSince = (at) => since(at).reduce((sum, { value }) => sum + value, 0);
}"""


# A wheel, a key and a finger scroll smoothly: the page goes on moving after their event.
STILL = """() => {
  const { still } = window;
  if (still?.at !== scrollY) window.still = { at: scrollY, frames: 0, since: performance.now() };
  else still.frames += 1;
  return window.still.frames > 10 && performance.now() - window.still.since > 200;
}"""


def stands(page: Page) -> float:
    """Return the scroll position in pixels, once the page has stopped scrolling."""
    page.wait_for_function(STILL)
    return float(page.evaluate("scrollY"))
