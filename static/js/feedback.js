import { postAction } from './api.js';
import { mayMoveFocus } from './focus.js';
import { announce, cloneTemplate, page } from './page.js';

/** Set or remove a thumb, as the button's value says. It is shown at once, and undone if the request fails. */
export async function rate(chat, button) {
  const article = button.closest('article');
  const previous = article.querySelector('[data-thumb][aria-pressed=true]')?.dataset.thumb ?? 'none';
  const thumb = button.value;
  show(article, thumb);
  const result = await send(chat, article, { thumb });
  if (!result) return show(article, previous);
  article.querySelector('.feedback-reason')?.remove();
  if (thumb === 'down') showReasonForm(article, button);
  announce(page.text(thumb === 'none' ? 'taken-back' : 'thanks'));
}

/** Send the reason for a thumb. It is optional. */
export async function sendReason(chat, form) {
  const article = form.closest('article');
  const thumb = form.elements.thumb.value;
  const result = await send(chat, article, { thumb, reason: form.elements.reason.value });
  if (!result) return;
  const button = dismiss(chat, form);
  if (result.reason) button.title = `${button.ariaLabel}: ${result.reason}`;
  announce(page.text('thanks'));
}

export function dismiss(chat, element) {
  const article = element.closest('article');
  const reasonForm = article.querySelector('.feedback-reason');
  const button = article.querySelector('[data-thumb][aria-pressed=true]');
  const hadFocus = mayMoveFocus(reasonForm);
  reasonForm.remove();
  if (hadFocus) button.focus();
  return button;
}

function send(chat, article, body) {
  return postAction(article, page.url('feedback', article.dataset.message), body);
}

function show(article, thumb) {
  for (const button of article.querySelectorAll('[data-thumb]')) {
    const pressed = button.dataset.thumb === thumb;
    button.ariaPressed = String(pressed);
    button.value = pressed ? 'none' : button.dataset.thumb;
    button.title = button.ariaLabel; // a new thumb has no reason yet
  }
}

/** Ask what was wrong. Only a thumb down is asked for a reason: praise needs none. */
function showReasonForm(article, button) {
  const form = cloneTemplate('feedback-reason-template');
  const field = form.elements.reason;
  form.elements.thumb.value = 'down';
  field.id = `feedback-reason-${article.dataset.message}`;
  form.querySelector('label').htmlFor = field.id;
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    form.querySelector('[data-action=dismiss]').click();
  });
  article.append(form);
  if (mayMoveFocus(button)) field.focus({ preventScroll: true });
  form.scrollIntoView({ block: 'center' }); // clear of a message box with files
}
