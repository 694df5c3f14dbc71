/**
 * Show the seconds that are left in a notice, and remove the notice afterwards.
 * The number is hidden from screen readers, which read the notice once: a number that
 * changes each second would be read each second.
 */
export function countDown(page, notice, seconds) {
  const span = document.createElement('span');
  span.ariaHidden = 'true';
  notice.append(' ', span);
  const until = performance.now() + seconds * 1_000;
  const tick = () => {
    const remaining = secondsUntil(until);
    if (!span.isConnected) return;
    if (remaining <= 0) return notice.replaceChildren();
    span.textContent = page.text('again-in', { time: page.seconds(remaining, 0) });
    setTimeout(tick, 500);
  };
  tick();
}

/** Return the whole seconds until a time of `performance.now()`, at least 1 before it. */
export function secondsUntil(time, now = performance.now()) {
  return Math.ceil((time - now) / 1_000);
}
