import { richText } from './rich_text.js';

/**
 * Copies a selection as *Copy message* copies a whole one. A browser would copy the letters of an equation one below
 * the other, and the colours of the page. Rows stay in their table, items in their list.
 */
document.addEventListener('copy', (event) => {
  const selection = getSelection();
  if (selection.isCollapsed || event.target.matches?.('textarea, input')) return;
  const range = wholeEquations(selection.getRangeAt(0).cloneRange());
  if (!range.intersectsNode(document.getElementById('thread'))) return;
  const copy = document.createElement('div');
  copy.append(withSurroundings(range));
  numberLists(copy, range.startContainer);
  const { html, text } = richText(Array.from(copy.childNodes), elementOf(range).closest('.text:not(.prose)') !== null);
  event.preventDefault();
  event.clipboardData.setData('text/html', html);
  event.clipboardData.setData('text/plain', text);
});

/** Return the innermost element around a range. */
function elementOf({ commonAncestorContainer: common }) {
  return common.closest ? common : common.parentElement;
}

/** Extend a range that begins or ends within an equation. */
function wholeEquations(range) {
  const [first, last] = [range.startContainer, range.endContainer].map(
    (node) => (node.closest ? node : node.parentElement).closest('math'),
  );
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  return range;
}

/** Return the contents of a range in the code, the table or the list that they are lines, rows or items of. */
function withSurroundings(range) {
  let contents = range.cloneContents();
  let around = elementOf(range);
  if (around.closest('pre')) around = around.closest('pre');
  while (around.matches('tr, thead, tbody, table, ol, ul, pre')) {
    const shell = around.cloneNode(false);
    shell.append(contents);
    contents = shell;
    if (around.matches('table, ol, ul, pre')) break;
    around = around.parentElement;
  }
  return contents;
}

/** Let the lists in which a copy begins go on counting where it begins. */
function numberLists(copy, start) {
  const lists = [];
  for (let node = copy.firstElementChild; node; node = node.firstElementChild) if (node.matches('ol')) lists.push(node);
  let item = (start.closest ? start : start.parentElement).closest('li');
  if (start.matches?.('ol')) item = null;
  for (; item && lists.length; item = item.parentElement.closest('li')) {
    const { parentElement: list } = item;
    if (list.matches('ol')) lists.pop().start = list.start + Array.from(list.children).indexOf(item);
  }
}
