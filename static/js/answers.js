/**
 * Calls the server for what was done with a message.
 * @returns {Promise<object|null>} its JSON; null: it refused, and why stands under the message
 */
export async function post(chat, article, url, body = {}) {
  const response = await chat.page.post(url, body).catch(() => null);
  const said = (await response?.json().catch(() => null)) ?? {};
  if (response?.ok) return said;
  if (response?.status === 401 && (await signedIn(chat))) return post(chat, article, url, body);
  complain(article, said.error?.message || chat.page.say('not-done'), said.error?.code);
  return null;
}

async function signedIn(chat) {
  const { signIn } = await import('./signin.js');
  return signIn(chat.page);
}

/**
 * Under the message that it is about, and read out.
 * @param {string} [about]  its code; what is `busy` goes when the reply that was in the way has ended
 */
export function complain(article, sentence, about = '') {
  forget(article);
  const trouble = document.createElement('p');
  trouble.className = 'trouble';
  trouble.role = 'alert';
  trouble.dataset.about = about;
  article.append(trouble);
  trouble.textContent = sentence;
  trouble.scrollIntoView({ block: 'nearest' });
}

export function forget(article) {
  article?.querySelector('.trouble')?.remove();
}

/** May the focus be moved from here? Not from who has taken it elsewhere: their Enter is for what is there. */
export function isHeldBy(place) {
  return document.activeElement === document.body || place.contains(document.activeElement);
}

/** To what was refused, from the message box, where it waited: unless somebody has begun to write there. */
export function giveBack(element) {
  const box = document.getElementById('content');
  if (isHeldBy(box.value ? element : box)) element.focus({ preventScroll: true });
}

/** What a screen reader says. */
export function announce(sentence) {
  document.getElementById('status').textContent = sentence;
}
