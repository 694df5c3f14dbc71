import { copyText } from './clipboard.js';

const RESULT_SHOWN_MS = 2_000; // how long a button shows its result

for (const button of document.querySelectorAll('[data-copies]')) {
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copies);
    const copied = await copyText(source.value ?? source.textContent);
    if (!copied) source.select?.(); // what remains is the keyboard or the menu of the field
    button.textContent = copied ? button.dataset.copied : button.dataset.notCopied;
    setTimeout(() => (button.textContent = label), RESULT_SHOWN_MS);
  });
}
