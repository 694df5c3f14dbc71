import { giveBack } from './answers.js';
import { nodesOf } from './transcript.js';

/**
 * Another version of a reply, by the model that the page is set to.
 * @returns {Promise<boolean>} whether the server took it
 */
export async function regenerate(chat, button, more = {}) {
  const reply = button.closest('article');
  const url = chat.page.url('regenerate', reply.dataset.message);
  const taken = await replace(chat, reply, { url, body: { model: chat.composer.model, ...more } });
  if (!taken) giveBack(button);
  return taken;
}

/**
 * A turn on a new branch: this article and all that follow give way to it.
 * @param {object} turn  what `chat.begin` takes
 * @returns {Promise<boolean>} whether the server took it
 */
export async function replace(chat, article, turn) {
  const articles = Array.from(chat.thread.querySelectorAll('.message'));
  const replaced = articles.slice(articles.indexOf(article));
  const taken = await chat.begin({ ...turn, replaced });
  if (taken) recount(chat).catch((error) => console.warn('How many versions there are:', error));
  return taken;
}

/** Only the server knows how many versions there are now. The new messages are the last ones, while nobody goes on. */
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

/** @returns {Promise<string>} this conversation's page as the server has it now */
export async function pageOf(chat) {
  const address = chat.page.url('conversation', chat.page.conversation);
  return textOf(await fetch(address, { headers: { Accept: 'text/html' } }));
}

/** A sign-in page is an answer too. */
export function textOf(response) {
  if (!response.ok || response.redirected) throw new Error(`${response.status} ${response.url}`);
  return response.text();
}
