import { copyText } from './clipboard.js';

const SHOWN = 2_000; // milliseconds for which a button shows its result

for (const button of document.querySelectorAll('[data-copies]')) {
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copies);
    const copied = await copyText(source.value ?? source.textContent);
    button.textContent = copied ? button.dataset.copied : button.dataset.notCopied;
    setTimeout(() => (button.textContent = label), SHOWN);
  });
}
