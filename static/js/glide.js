const GLIDE = { duration: 280, easing: 'cubic-bezier(.2, .7, .2, 1)', composite: 'add' };

/**
 * Let an element move to its place from where it stood, unless less motion is asked for. The layout does not move: the
 * element is only drawn on its way, also from the midst of another.
 * @param {number} top  of where it stood, in pixels of the window
 */
export function glide(element, top) {
  const moved = top - element.getBoundingClientRect().top;
  if (moved && !matchMedia('(prefers-reduced-motion: reduce)').matches) element.animate({ translate: [`0 ${moved}px`, '0'] }, GLIDE);
}
