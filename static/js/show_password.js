/** Buttons that show what is typed into a password field, and hide it again. */

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
