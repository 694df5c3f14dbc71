import { loadUntil } from './older_messages.js';

const MAX_PAGES = 200; // of older messages

/** Print the whole chat, also the messages that the page has not loaded yet. */
export async function printChat(chat) {
  document.getElementById('menu').hidePopover();
  await Promise.all([loadUntil(chat, '', MAX_PAGES), loadStyles(chat)]);
  print();
}

/** Print the text of one message: a letter without the chat around it. */
export async function printMessage(chat, button) {
  const article = button.closest('article');
  await loadStyles(chat);
  const mark = (isAlone) => {
    document.body.classList.toggle('prints-one', isAlone);
    article.classList.toggle('printed', isAlone);
  };
  addEventListener('afterprint', () => mark(false), { once: true });
  mark(true);
  print();
}

/** Wait for the style sheet of paper, which the page fetches after its first view. */
async function loadStyles(chat) {
  await chat.startSync().catch(() => {});
  const link = document.head.querySelector('link[media=print]');
  if (link && !link.sheet) await new Promise((resolve) => (link.onload = link.onerror = resolve));
}
