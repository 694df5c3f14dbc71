/**
 * Copies the equations of a selection as the TeX that they were written in;
 * a browser would copy their letters one below the other.
 */
document.addEventListener('copy', (event) => {
  const selection = getSelection();
  if (!selection.rangeCount || event.target.matches?.('textarea, input')) return;
  const copy = document.createElement('div');
  copy.append(wholeEquations(selection.getRangeAt(0).cloneRange()).cloneContents());
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
