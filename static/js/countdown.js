/**
 * Show below a notice how many seconds it still holds, and remove the notice afterwards.
 * The number is hidden from screen readers, which read the notice once: a number that
 * changes each second would be read each second.
 */
export function countDown(page, notice, seconds) {
  const left = document.createElement('span');
  left.ariaHidden = 'true';
  notice.append(' ', left);
  const until = performance.now() + seconds * 1_000;
  const tell = () => {
    const rest = Math.ceil((until - performance.now()) / 1_000);
    if (!left.isConnected) return;
    if (rest <= 0) return notice.replaceChildren();
    left.textContent = page.say('again-in', { time: page.seconds(rest, 0) });
    setTimeout(tell, 500);
  };
  tell();
}
