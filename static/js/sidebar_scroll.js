/**
 * Restores the scroll position of the list of conversations from the page before, and keeps the
 * open one in view. It is a classic script right behind the list: a change by a frame's
 * ResizeObserver is made before that frame is painted.
 */
{
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
  addEventListener('pagehide', () => (sessionStorage.listPlace = place));
}
