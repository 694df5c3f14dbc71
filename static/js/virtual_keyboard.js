const MIN_KEYBOARD_PX = 80; // a smaller covered area is no keyboard
const MAX_SCALE = 1.05; // with a larger one the person has zoomed in, and a smaller viewport is no keyboard

/**
 * Lift the foot of the page above an on-screen keyboard. Chromium and Firefox make the page smaller, as
 * base.html asks them to; Safari only shrinks and moves the visual viewport.
 * @param {() => void} follow  keeps the newest text in view for a reader who is at the end
 */
export function liftAboveKeyboard(follow) {
  const viewport = visualViewport;
  const place = () => {
    document.documentElement.style.setProperty('--covered', `${coveredHeight(viewport, innerHeight)}px`);
    follow();
  };
  for (const type of ['resize', 'scroll']) viewport.addEventListener(type, place);
  place();
}

/** Return the pixels of the window's height that a keyboard covers. */
export function coveredHeight({ scale, offsetTop, height }, windowHeight) {
  const covered = windowHeight - offsetTop - height;
  return scale > MAX_SCALE || covered < MIN_KEYBOARD_PX ? 0 : Math.round(covered);
}
