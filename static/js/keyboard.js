const LEAST = 80; // pixels: a smaller covered area is no keyboard
const ZOOMED = 1.05; // scale; beyond it the person has zoomed in, and nothing counts as covered

/**
 * Lift the foot of the page above an on-screen keyboard. Chromium and Firefox make the page smaller, as
 * base.html asks them to; Safari only shrinks and moves the visual viewport.
 * @param {() => void} follow  keeps the newest text in view for a reader who is at the end
 */
export function lift(follow) {
  const seen = visualViewport;
  const place = () => {
    const covered = seen.scale > ZOOMED ? 0 : innerHeight - seen.offsetTop - seen.height;
    document.documentElement.style.setProperty('--covered', `${covered < LEAST ? 0 : Math.round(covered)}px`);
    follow();
  };
  for (const type of ['resize', 'scroll']) seen.addEventListener(type, place);
  place();
}
