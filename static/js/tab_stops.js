/**
 * Make Tab stop only at the code blocks and tables that actually scroll.
 *
 * The server makes all of them focusable, because it cannot know their width on the screen, and Safari cannot
 * reach a scrolling element without a tabindex. The overflow is measured when Tab is pressed, before the
 * focus moves, so that a page that is used without a keyboard pays nothing, however much streams into it.
 */
export function updateScrollableTabStops() {
  const boxes = Array.from(document.querySelectorAll('.prose :is(pre, .table)'));
  const scrolling = boxes.map((box) => box.scrollWidth > box.clientWidth); // measure all before changing any
  boxes.forEach((box, at) => (box.tabIndex = scrolling[at] ? 0 : -1));
}
