import { countDown } from './countdown.js';

/** Do what a refusal of a turn asks for, whose message the notice shows. */
export function onRefused(page, { message, retry_after: seconds, attachments }) {
  if (seconds) countDown(page, page.notice, seconds);
  if (attachments) dispatchEvent(new CustomEvent('attachments-missing', { detail: { message, attachments } }));
}
