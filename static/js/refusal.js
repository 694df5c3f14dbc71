import { page } from './page.js';

/** Do what a refusal of a turn asks for, whose message the notice shows. */
export function onRefused({ message, retry_after: seconds, attachments }) {
  if (seconds) countDown(document.getElementById('notice'), seconds);
  if (attachments) dispatchEvent(new CustomEvent('attachments-missing', { detail: { message, attachments } }));
}

/**
 * Show the seconds that are left in a notice, and remove the notice afterwards.
 * The number is hidden from screen readers, which read the notice once: a number that
 * changes each second would be read each second.
 */
function countDown(notice, seconds) {
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
