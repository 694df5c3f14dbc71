const NAME = 'place';

/** Store the reader's place: the topmost message in view, and its distance from the top of the window. */
export function keep(chat) {
  const articles = Array.from(chat.thread.querySelectorAll('.message[id]'));
  const article = chat.follower.following ? null : articles.find((each) => each.getBoundingClientRect().bottom > 0);
  try {
    if (article) sessionStorage.setItem(NAME, JSON.stringify([article.id, article.getBoundingClientRect().top]));
    else sessionStorage.removeItem(NAME);
  } catch (error) {
    console.warn('The place in the page is not kept:', error);
  }
}

/**
 * Return to the stored place after a reload. The listener stores the place of a page that is left before
 * sync.js was loaded; otherwise the place of an earlier page would be used for it.
 * @param {object} chat  chat.js's controller
 * @returns {boolean} false if the reader was at the end, or the message is not on the page
 */
export function restore(chat) {
  addEventListener('pagehide', () => keep(chat));
  const [id, top] = read();
  const article = id && document.getElementById(id);
  if (!article) return false;
  chat.follower.release();
  const move = () => scrollBy(0, article.getBoundingClientRect().top - top);
  move();
  requestAnimationFrame(move); // an element far from the view gets its size only near it
  return true;
}

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? '[]');
  } catch {
    return [];
  }
}
