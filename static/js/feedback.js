import { announce, isHeldBy, post } from './answers.js';
import { copy } from './transcript.js';

/**
 * Set or take back a thumb, as the button's value says. It shows at
 * once, and is undone if the server refuses it.
 */
export async function rate(chat, button) {
  const article = button.closest('article');
  const before = article.querySelector('[data-thumb][aria-pressed=true]')?.dataset.thumb ?? 'none';
  const thumb = button.value;
  show(article, thumb);
  const taken = await send(chat, article, { thumb });
  if (!taken) return show(article, before);
  article.querySelector('.why')?.remove();
  if (thumb !== 'none') ask(article, thumb);
  announce(chat.page.say(thumb === 'none' ? 'taken-back' : 'thanks'));
}

/** Send the reason for a thumb. The form for it is optional and stands in the way of nothing. */
export async function explain(chat, form) {
  const article = form.closest('article');
  const thumb = form.elements.thumb.value;
  const taken = await send(chat, article, { thumb, reason: form.elements.reason.value });
  if (!taken) return;
  const button = dismiss(chat, form);
  if (taken.reason) button.title = `${button.ariaLabel}: ${taken.reason}`;
  announce(chat.page.say('thanks'));
}

export function dismiss(chat, element) {
  const article = element.closest('article');
  const why = article.querySelector('.why');
  const button = article.querySelector('[data-thumb][aria-pressed=true]');
  const held = isHeldBy(why);
  why.remove();
  if (held) button.focus();
  return button;
}

function send(chat, article, body) {
  return post(chat, article, chat.page.url('feedback', article.dataset.message), body);
}

function show(article, thumb) {
  for (const button of article.querySelectorAll('[data-thumb]')) {
    const pressed = button.dataset.thumb === thumb;
    button.ariaPressed = String(pressed);
    button.value = pressed ? 'none' : button.dataset.thumb;
    button.title = button.ariaLabel; // a new thumb has no reason yet
  }
}

function ask(article, thumb) {
  const form = copy('why-template');
  const line = form.elements.reason;
  form.elements.thumb.value = thumb;
  line.id = `why-${article.dataset.message}`;
  form.querySelector('label').htmlFor = line.id;
  line.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    form.querySelector('[data-action=dismiss]').click();
  });
  article.append(form);
  form.scrollIntoView({ block: 'nearest' });
}
