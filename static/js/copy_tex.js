/**
 * Copies the equations of a selection as the TeX that they were written in;
 * a browser would copy their letters one below the other. Rows stay in their table, items in their list.
 */
document.addEventListener('copy', (event) => {
  const selection = getSelection();
  if (!selection.rangeCount || event.target.matches?.('textarea, input')) return;
  const copy = document.createElement('div');
  const range = wholeEquations(selection.getRangeAt(0).cloneRange());
  copy.append(withSurroundings(range));
  numberLists(copy, range.startContainer);
  const equations = copy.querySelectorAll('math');
  if (!equations.length) return;
  for (const math of equations) math.replaceWith(texOf(math));
  for (const button of copy.querySelectorAll('button')) button.remove();
  event.preventDefault();
  event.clipboardData.setData('text/html', new XMLSerializer().serializeToString(copy));
  event.clipboardData.setData('text/plain', textOf(copy));
});

/** Extend a range that begins or ends within an equation. */
function wholeEquations(range) {
  const [first, last] = [range.startContainer, range.endContainer].map(
    (node) => (node.closest ? node : node.parentElement).closest('math'),
  );
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  return range;
}

/** Return the contents of a range in the table or the list that they are rows or items of. */
function withSurroundings(range) {
  let contents = range.cloneContents();
  const { commonAncestorContainer: common } = range;
  let around = common.closest ? common : common.parentElement;
  while (around.matches('tr, thead, tbody, table, ol, ul')) {
    const shell = around.cloneNode(false);
    shell.append(contents);
    contents = shell;
    if (around.matches('table, ol, ul')) break;
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

function texOf(math) {
  const mark = math.getAttribute('display') === 'block' ? '$$' : '$';
  const source = document.createElement('span');
  source.className = 'tex'; // keeps its line breaks
  source.textContent = `${mark}${math.querySelector('annotation').textContent}${mark}`;
  return source;
}

/** Return the text with its line breaks, which only a rendered element has. */
function textOf(copy) {
  copy.className = 'prose hidden';
  document.body.append(copy);
  const text = copy.innerText;
  copy.remove();
  return text;
}
