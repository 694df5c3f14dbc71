const LEAST = 80; // pixels: what covers less is no keyboard
const ZOOMED = 1.05; // who has zoomed in sees a part of the page, and none of it is covered

/**
 * Lifts the foot of the page above a keyboard that covers it. Chromium and Firefox make the page smaller, as
 * base.html asks them to; Safari only makes smaller what is seen of it, and moves that about.
 * @param {() => void} follow  keeps the newest text in view for whoever reads there
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
