const SHOWN = 2_000; // milliseconds for which a button shows that it has done its work

/**
 * Write a text to the clipboard.
 * @param {string | Promise<string>} text  a promise may still be pending; call this in the click, not after
 *   the text has come
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
 * Write to the clipboard. Safari forgets the click while a text is
 * fetched, unless it is given the promise itself.
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

/** Copy a code block. Its button shows the result for a moment. */
export async function copyCode(page, button) {
  const code = button.closest('figure').querySelector('code');
  const name = (await copyText(code.textContent)) ? 'copied' : 'not-copied';
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  document.getElementById('status').textContent = page.say(name);
  button.textContent = page.say(name);
  await new Promise((resolve) => setTimeout(resolve, SHOWN));
  button.textContent = label;
}
