/**
 * Of the code and the tables that could scroll, only those that do are stops of the Tab key.
 *
 * The server makes a stop of each, for it cannot know how wide they stand, and Safari reaches nothing that
 * scrolls without one. What overflows is asked when Tab is pressed, before the focus moves: a page that
 * nobody walks through by keyboard pays nothing, whatever streams into it.
 */
export function mark() {
  const boxes = Array.from(document.querySelectorAll('.prose :is(pre, .table)'));
  const scrolling = boxes.map((box) => box.scrollWidth > box.clientWidth); // all asked before any is changed
  boxes.forEach((box, at) => (box.tabIndex = scrolling[at] ? 0 : -1));
}
