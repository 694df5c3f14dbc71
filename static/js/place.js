const NAME = 'place';

/** Where the reader is: the topmost message in view, and how far from the top of the window it begins. */
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
 * Goes back there after a reload. A page that is left again before sync.js has come keeps its place too: else the
 * place of the page before it would be taken for its own.
 * @param {object} chat  chat.js's controller
 * @returns {boolean} false where the reader was at the end, or the message is not on the page
 */
export function restore(chat) {
  addEventListener('pagehide', () => keep(chat));
  const [id, top] = read();
  const article = id && document.getElementById(id);
  if (!article) return false;
  chat.follower.release();
  const move = () => scrollBy(0, article.getBoundingClientRect().top - top);
  move();
  requestAnimationFrame(move); // what is skipped far from the view has its size only once it is near
  return true;
}

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? '[]');
  } catch {
    return [];
  }
}
