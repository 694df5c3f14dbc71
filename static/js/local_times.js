import { Clock, updateTimes } from './message_times.js';

/** Show all times of the page in this zone: the server did not know it when it wrote them. */
export function showLocalTimes(zone) {
  const thread = document.getElementById('thread');
  if (thread) {
    thread.dataset.timeZone = zone;
    updateTimes(thread);
  }
  const clock = new Clock(document.documentElement.lang, zone);
  for (const time of document.querySelectorAll('.timestamp')) time.textContent = clock.timestamp(new Date(time.dateTime));
}
