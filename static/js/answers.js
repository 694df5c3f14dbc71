/**
 * Post an action on a message. A failure is shown below the message.
 * @returns {Promise<object|null>} the server's JSON; null: the server refused
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
 * Show an error below the message that it concerns, and have a screen reader read it out.
 * @param {string} [about]  the error's code; a `busy` error is removed when the reply that was in the way
 *   ends
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

/**
 * Return whether the focus may be moved, because it is inside `place` or nowhere. If the person has moved it
 * elsewhere, their Enter is meant for that element.
 */
export function isHeldBy(place) {
  return document.activeElement === document.body || place.contains(document.activeElement);
}

/**
 * Move the focus from the message box, where it waited, back to the element whose request was refused, unless
 * the person has begun to write in the box.
 */
export function giveBack(element) {
  const box = document.getElementById('content');
  if (isHeldBy(box.value ? element : box)) element.focus({ preventScroll: true });
}

/** Announce a sentence to screen readers. */
export function announce(sentence) {
  document.getElementById('status').textContent = sentence;
}
