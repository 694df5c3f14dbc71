const RESULT_SHOWN_MS = 2_000; // how long a button shows its result

/**
 * Write a text to the clipboard.
 * @param {string | Promise<string>} text  a promise may still be pending: call this in the click's handler, and
 *   do not await the text before
 * @returns {Promise<boolean>} whether it was written
 */
export async function copyText(text) {
  try {
    if (navigator.clipboard) await write(text);
    else return copySelected(await text);
  } catch (error) {
    console.warn('Not copied:', error);
    return false;
  }
  return true;
}

/**
 * Write to the clipboard. Safari allows this only in the click's own task,
 * so it gets the promise of a text that is still being fetched.
 */
function write(text) {
  if (typeof text === 'string' || !globalThis.ClipboardItem) {
    return Promise.resolve(text).then((ready) => navigator.clipboard.writeText(ready));
  }
  const blob = text.then((ready) => new Blob([ready], { type: 'text/plain' }));
  return navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
}

/** Copy by a selection, because an http:// address other than localhost has no clipboard API. */
function copySelected(text) {
  const focused = document.activeElement;
  const box = document.createElement('textarea');
  box.className = 'hidden';
  box.style.whiteSpace = 'pre';
  box.readOnly = true;
  box.value = text;
  document.body.append(box);
  box.select();
  const copied = document.execCommand('copy');
  box.remove();
  focused?.focus({ preventScroll: true });
  return copied;
}

/** Show for a moment on a Copy button that it has copied. */
export function showCopied(button) {
  const icon = button.querySelector('use');
  icon.setAttribute('href', '#icon-done');
  setTimeout(() => icon.setAttribute('href', '#icon-copy'), RESULT_SHOWN_MS);
}
