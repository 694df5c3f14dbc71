import { page } from './page.js';

/**
 * Delete the open temporary chat when its page is left, but not for a posted form, which leads back to it. If the
 * browser ends without an event, the server deletes the chat within a day.
 */
export function deleteOnLeave() {
  let staying = false;
  addEventListener('submit', ({ target, defaultPrevented }) => {
    if (!defaultPrevented && target.method === 'post') staying = true;
  });
  addEventListener('pagehide', () => {
    if (staying || !page.conversation) return;
    page.post(page.url('delete', page.conversation), {}, { keepalive: true }).catch(() => {});
  });
}
