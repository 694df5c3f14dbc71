const RESULT_SHOWN_MS = 2_000; // how long a button shows its result

/**
 * Write a text to the clipboard.
 * @param {string | Promise<string>} text  a promise may still be pending: call this in the click's handler, and
 *   do not await the text before
 * @returns {Promise<boolean>} whether it was written
 */
export function copyText(text) {
  return copy({ 'text/plain': text });
}

/**
 * Write a text to the clipboard in several forms, of which the program where it is pasted takes the best.
 * @param {Object<string, string | Promise<string>>} forms  by their media type, with text/plain
 */
export async function copy(forms) {
  try {
    // Before Firefox 127 the clipboard API takes plain text only.
    if (navigator.clipboard && (globalThis.ClipboardItem || Object.keys(forms).length === 1)) await write(forms);
    else return copySelected(await ready(forms));
  } catch (error) {
    console.warn('Not copied:', error);
    return false;
  }
  return true;
}

async function ready(forms) {
  return Object.fromEntries(await Promise.all(Object.entries(forms).map(async ([type, text]) => [type, await text])));
}

/**
 * Write to the clipboard. Safari allows this only in the click's own task,
 * so it gets the promise of a text that is still being fetched.
 */
function write(forms) {
  if (!globalThis.ClipboardItem) return Promise.resolve(forms['text/plain']).then((text) => navigator.clipboard.writeText(text));
  const blobs = Object.entries(forms).map(([type, text]) => [type, Promise.resolve(text).then((found) => new Blob([found], { type }))]);
  return navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
}

/** Copy by a selection, because an http:// address other than localhost has no clipboard API. */
function copySelected(forms) {
  const focused = document.activeElement;
  const box = document.createElement('textarea');
  box.className = 'hidden';
  box.readOnly = true;
  box.value = forms['text/plain'];
  box.addEventListener('copy', (event) => {
    event.preventDefault();
    for (const [type, text] of Object.entries(forms)) event.clipboardData.setData(type, text);
  });
  document.body.append(box);
  box.select();
  const copied = document.execCommand('copy');
  box.remove();
  focused?.focus({ preventScroll: true });
  return copied;
}

/** Show for a moment on a button that it has copied. */
export function showCopied(button) {
  const icon = button.querySelector('use');
  const before = icon.getAttribute('href');
  if (before === '#icon-done') return;
  icon.setAttribute('href', '#icon-done');
  setTimeout(() => icon.setAttribute('href', before), RESULT_SHOWN_MS);
}
