/**
 * Load the style sheet of a part that was fetched, once. Without it, the part works as well.
 * @param {HTMLLinkElement} link  moved to the head of the page
 */
export function loadStyles(link) {
  link.remove();
  if (document.head.querySelector(`[href="${link.getAttribute('href')}"]`)) return Promise.resolve();
  return new Promise((resolve) => {
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
}
