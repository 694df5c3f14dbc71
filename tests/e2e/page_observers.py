"""Scripts that watch a page while a reply grows in it. Each leaves what it saw in `window.seen`."""

# Which live regions changed their words: what a screen reader would read out.
ANNOUNCED = """() => {
  const REGION = '[aria-live], [role=status], [role=alert], [role=log]';
  const seen = (window.seen = []);
  const texts = new Map();
  const look = () => {
    for (const region of document.querySelectorAll(REGION)) {
      const text = region.textContent.trim();
      if (texts.has(region) && texts.get(region) !== text) seen.push(text);
      texts.set(region, text);
    }
  };
  look();
  new MutationObserver(look).observe(document, { childList: true, characterData: true, subtree: true });
}"""

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
