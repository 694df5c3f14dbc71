import { mayMoveFocus } from './focus.js';

const YEAR_SECONDS = 31_536_000;
const WIDE_QUERY = '(width >= 52rem)'; // as in chat.css: the sidebar stands beside the thread

/**
 * Fold or unfold the sidebar where it was opened as a drawer on a wide page. It is a drawer on narrow pages
 * only; on a wide page it stands beside the thread or is folded.
 */
export function onDrawerToggle(sidebar) {
  if (!matchMedia(WIDE_QUERY).matches || !sidebar.matches(':popover-open')) return;
  sidebar.hidePopover();
  fold(sidebar);
}

export function fold(sidebar) {
  if (!matchMedia(WIDE_QUERY).matches) return sidebar.togglePopover();
  const folded = document.body.classList.toggle('folded');
  document.cookie = `sidebar=${folded ? 'folded' : ''};path=/;max-age=${folded ? YEAR_SECONDS : 0};samesite=lax`;
  if (folded && mayMoveFocus(sidebar)) document.querySelector('.sidebar-toggle').focus();
  else if (!folded && document.activeElement.matches('.sidebar-toggle, body')) sidebar.querySelector('.fold').focus();
}
