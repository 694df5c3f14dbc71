"""The scroll position of a page."""

from playwright.sync_api import Page

# A wheel, a key and a finger scroll smoothly: the page goes on moving after their event.
STILL = """() => {
  const { still } = window;
  if (still?.at !== scrollY) window.still = { at: scrollY, frames: 0, since: performance.now() };
  else still.frames += 1;
  return window.still.frames > 10 && performance.now() - window.still.since > 200;
}"""


def stands(page: Page) -> float:
    """Return the scroll position in pixels, once the page has stopped scrolling."""
    page.wait_for_function(STILL)
    return float(page.evaluate("scrollY"))
