/**
 * What has to be right when a page is first painted: a classic script, which runs before what follows it.
 */

/**
 * Tell the server the zone for the times that it writes, by a cookie, on the page to sign in already. Where it has
 * written some in another one, show them anew. `data-zone` is the zone of this page; none: the one that the person
 * chose. A cookie that is written keeps the page out of the back/forward cache, so it is written only if it differs.
 */
{
  const { zone } = document.documentElement.dataset;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (zone !== undefined && zone !== timeZone) {
    document.cookie = `tz=${timeZone};path=/;max-age=31536000;samesite=lax`;
    // Times of an unknown zone are those of UTC.
    if ((zone || 'UTC') !== timeZone) addEventListener('DOMContentLoaded', () => import('./local_times.js').then((module) => module.showLocalTimes(timeZone), () => {}));
  }
}

/**
 * Restore the scroll position of the list of conversations from the page before, and keep the open one in view: a
 * change by a frame's ResizeObserver is made before that frame is painted.
 */
if (document.getElementById('conversations')) {
  const list = document.getElementById('conversations');
  let { listPlace: place = 0 } = sessionStorage; // of this tab's list, in pixels
  let shown = false;

  const restore = () => {
    list.scrollTop = place;
    const open = list.querySelector('[aria-current]')?.getBoundingClientRect();
    const { top, bottom, height } = list.getBoundingClientRect();
    if (open && (open.top < top || open.bottom > bottom)) list.scrollTop += open.top - top - height / 2;
  };

  // A drawer gets its size when it is opened, and a folded list when it is unfolded.
  new ResizeObserver(() => {
    if (!shown && list.clientHeight) restore();
    shown = list.clientHeight > 0;
  }).observe(list);
  list.addEventListener('scroll', () => {
    if (shown) place = list.scrollTop;
  });
  // Show at once which link was pressed: on a slow line its page comes a second later.
  list.closest('nav').addEventListener('click', (event) => {
    const link = event.target.closest('a[href]:not([data-opens])');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    for (const element of [link, document.body]) element.dataset.opening = '';
  });
  // The page may be shown again from the back/forward cache.
  addEventListener('pageshow', () => document.querySelectorAll('[data-opening]').forEach(({ dataset }) => delete dataset.opening));
  addEventListener('pagehide', () => (sessionStorage.listPlace = place));
}
