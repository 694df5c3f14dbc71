import { giveBack } from './answers.js';
import { nodesOf } from './transcript.js';

/**
 * Request another version of a reply, from the model that the page is set to.
 * @returns {Promise<boolean>} whether the server accepted it
 */
export async function regenerate(chat, button, more = {}) {
  const reply = button.closest('article');
  const url = chat.page.url('regenerate', reply.dataset.message);
  const taken = await replace(chat, reply, { url, body: { model: chat.composer.model, ...more } });
  if (!taken) giveBack(button);
  return taken;
}

/**
 * Begin a turn on a new branch, which replaces this article and all that follow it.
 * @param {object} turn  the argument of `chat.begin`
 * @returns {Promise<boolean>} whether the server accepted it
 */
export async function replace(chat, article, turn) {
  const articles = Array.from(chat.thread.querySelectorAll('.message'));
  const replaced = articles.slice(articles.indexOf(article));
  const taken = await chat.begin({ ...turn, replaced });
  if (taken) recount(chat).catch((error) => console.warn('How many versions there are:', error));
  return taken;
}

/**
 * Update the version counts, which only the server knows. The new messages are the last
 * two, as long as no further turn has begun.
 */
async function recount(chat) {
  const made = Array.from(chat.thread.querySelectorAll('.message')).slice(-2);
  const fresh = nodesOf(await pageOf(chat));
  for (const article of made) {
    const { message } = article.dataset;
    const walker = message && fresh.querySelector(`#thread [data-message="${message}"] .versions`);
    if (walker) article.querySelector('.versions').replaceWith(walker);
  }
  chat.enable();
}

/** @returns {Promise<string>} the current HTML of this conversation's page */
export async function pageOf(chat) {
  const address = chat.page.url('conversation', chat.page.conversation);
  return textOf(await fetch(address, { headers: { Accept: 'text/html' } }));
}

/** Return a response's text. A redirect is an error, because it leads to the sign-in page. */
export function textOf(response) {
  if (!response.ok || response.redirected) throw new Error(`${response.status} ${response.url}`);
  return response.text();
}
