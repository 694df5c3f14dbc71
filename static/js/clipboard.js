const SHOWN = 2_000; // milliseconds that a button says that it did it

/**
 * Puts a text on the clipboard.
 * @param {string | Promise<string>} text  a promise may still be on its way when this is called, not before
 * @returns {Promise<boolean>} whether it is there
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

/** Safari forgets the click while a text is fetched, unless the promise itself is handed over. */
function write(text) {
  if (typeof text === 'string' || !globalThis.ClipboardItem) {
    return Promise.resolve(text).then((ready) => navigator.clipboard.writeText(ready));
  }
  const blob = text.then((ready) => new Blob([ready], { type: 'text/plain' }));
  return navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
}

/** On http:// other than localhost there is no clipboard, but what is selected can be copied. */
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

/** The button of a code block, which says for a moment that it did it. */
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
