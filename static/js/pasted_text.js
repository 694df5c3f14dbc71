import { fetchText } from './api.js';

/** Put a pasted text, which was a file of the question, behind what is written in the box. */
export async function putInto(box, { file, attachment }) {
  const text = file?.pasted ?? (await fetchText(attachment.url));
  box.value = [box.value, text].filter(Boolean).join('\n\n');
  box.dispatchEvent(new Event('input', { bubbles: true }));
}
