import { addCodeActions, parseTrustedHtml } from './page.js';

const TEXT_NODE = 3;

/**
 * Update the blocks of a text. Blocks that stay the same are not touched, nor is a selection in them.
 * @param {Element} container  child i is block i
 * @param {Array<[number, string] | [number, null, string]>} patches  [index, html] replaces that block, ''
 *   removes it and those after it; [index, null, text] extends that block's last text, or its open fence
 */
export function applyPatches(container, patches) {
  for (const [index, html, text] of patches) {
    const block = container.children[index];
    if (html === null) appendText(innermostEnd(block), text);
    else if (html) placeBlock(container, block, parseTrustedHtml(html));
    else while (container.children.length > index) container.lastElementChild.remove();
  }
}

/** Return the node in which a block's text ends: its code, or the innermost element at its end. */
function innermostEnd(block) {
  if (block.matches('figure')) return block.querySelector('code');
  let end = block;
  while (end.lastChild === end.lastElementChild && end.lastChild) end = end.lastChild;
  return end;
}

function placeBlock(container, old, fresh) {
  addCodeActions(fresh);
  const block = fresh.firstElementChild;
  if (!old) return container.append(block);
  if (old.open) block.open = true; // a reader has unfolded it
  if (!old.isEqualNode(block)) {
    const { activeElement: focused } = document;
    const at = Array.from(old.querySelectorAll(focused.localName)).indexOf(focused);
    old.replaceWith(block);
    block.querySelectorAll(focused.localName)[at]?.focus({ preventScroll: true });
  }
}

/** Append to the one text node, which keeps a selection and avoids parsing the existing text again. */
export function appendText(node, text) {
  if (!text) return;
  if (node.lastChild?.nodeType === TEXT_NODE) node.lastChild.appendData(text);
  else node.append(text);
}
