/**
 * Return whether the focus may be moved, because it is inside `element` or nowhere. If the person has moved
 * it elsewhere, their next key is meant for that element.
 */
export function mayMoveFocus(element) {
  return document.activeElement === document.body || element.contains(document.activeElement);
}

/**
 * Return the focus from the message box to the element whose request was rejected, unless the person has
 * begun to write in the box.
 */
export function returnFocus(element) {
  const box = document.getElementById('content');
  if (mayMoveFocus(box.value ? element : box)) element.focus({ preventScroll: true });
}
