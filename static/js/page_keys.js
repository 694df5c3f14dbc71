const PAGE_PART = 0.8; // of the window's height

/**
 * Let the keys that move by pages scroll the conversation while the message box has the focus and no use for
 * them: PageUp and PageDown if its text does not scroll, Home and End if it is empty.
 * @param {import('./page.js').ScrollFollower} follower
 */
export function watchPageKeys(box, follower) {
  const scrolls = {
    PageUp: () => scrollUp(follower, scrollY - innerHeight * PAGE_PART),
    PageDown: () => scrollBy(0, innerHeight * PAGE_PART),
    Home: () => scrollUp(follower, 0),
    End: () => follower.jump(),
  };
  box.addEventListener('keydown', (event) => {
    if (!scrollsPage(event, { isEmpty: box.value === '', isScrollable: box.scrollHeight > box.clientHeight })) return;
    event.preventDefault();
    scrolls[event.key]();
  });
}

/**
 * Return whether a key in the message box scrolls the page.
 * @param {KeyboardEvent} event
 * @param {{isEmpty: boolean, isScrollable: boolean}} box
 */
export function scrollsPage({ key, shiftKey, altKey, metaKey, ctrlKey, isComposing }, { isEmpty, isScrollable }) {
  if (shiftKey || altKey || metaKey || isComposing) return false;
  if (key === 'PageUp' || key === 'PageDown') return !ctrlKey && !isScrollable;
  return (key === 'Home' || key === 'End') && isEmpty;
}

/** Stop following first: the next piece of a reply would undo the movement. */
function scrollUp(follower, top) {
  follower.release();
  scrollTo(0, top);
}

/** Open the table of shortcuts with a question mark outside of fields. */
export function watchHelpKey(link) {
  document.addEventListener('keydown', (event) => {
    if (!isHelpKey(event, event.target.matches('input, textarea, select'))) return;
    event.preventDefault();
    link.click();
  });
}

export function isHelpKey({ key, ctrlKey, metaKey, isComposing }, isInField) {
  return key === '?' && !isInField && !isComposing && !ctrlKey && !metaKey;
}
