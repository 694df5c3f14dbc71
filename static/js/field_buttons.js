import { copyText } from './clipboard.js';

const RESULT_SHOWN_MS = 2_000; // how long a button shows its result

// Buttons that copy a field or a text.

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

// Buttons that show what is typed into a password field, and hide it again.

for (const button of document.querySelectorAll('[data-shows]')) {
  const field = document.getElementById(button.dataset.shows);
  const show = (shown) => {
    field.type = shown ? 'text' : 'password';
    button.ariaPressed = String(shown);
  };
  button.hidden = false;
  button.addEventListener('click', () => show(field.type === 'password'));
  // Hide it again: a browser would store the value of a text field for later suggestions.
  field.form.addEventListener('submit', () => show(false));
}
