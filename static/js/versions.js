import { fetchThread } from './api.js';
import { returnFocus } from './focus.js';
import { page } from './page.js';

/**
 * Request another version of a reply, from the model that the page is set to.
 * @returns {Promise<boolean>} whether the server accepted it
 */
export async function regenerate(chat, button, more = {}) {
  const reply = button.closest('article');
  const url = page.url('regenerate', reply.dataset.message);
  const accepted = await replaceFrom(chat, reply, { url, body: { model: chat.composer.model, ...more } });
  if (!accepted) returnFocus(button);
  return accepted;
}

/**
 * Begin a turn on a new branch, which replaces this article and all that follow it.
 * @param {object} turn  the argument of `chat.requestReply`
 * @returns {Promise<boolean>} whether the server accepted it
 */
export async function replaceFrom(chat, article, turn) {
  const articles = Array.from(chat.thread.querySelectorAll('.message'));
  const replaced = articles.slice(articles.indexOf(article));
  const accepted = await chat.requestReply({ ...turn, replaced });
  if (accepted) updateCounts(chat).catch((error) => console.warn('The version counts are not updated:', error));
  return accepted;
}

/**
 * Update the version counts, which only the server knows. The new messages are the last
 * two, as long as no further turn has begun.
 */
async function updateCounts(chat) {
  const created = Array.from(chat.thread.querySelectorAll('.message')).slice(-2);
  const current = await fetchThread();
  for (const article of created) {
    const { message } = article.dataset;
    const versions = message && current.querySelector(`[data-message="${message}"] .versions`);
    if (versions) article.querySelector('.versions').replaceWith(versions);
  }
  chat.updateTurnButtons();
}
