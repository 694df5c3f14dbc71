"""The findings of axe-core on a page as it is shown now: WCAG 2.2 AA and its best practices."""

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]  # all that differs in the dark
# For a window: axe writes into the page, and looks at colours that stay.
WINDOW: dict[str, Any] = {"bypass_csp": True, "reduced_motion": "reduce"}
# One that ends may set off another: a colour that is inherited, say.
SETTLED = """() => document.getAnimations().every(({ effect, playState }) =>
  playState !== 'running' || effect.getTiming().iterations === Infinity)"""
# One rule looks at media. If not told, axe fetches and parses all styles too, for a rule that does not run.
RUN = """(options) => axe.run({
    resultTypes: ['violations'], restoreScroll: true, preload: { assets: ['media'] }, ...options })
  .then(({ violations, passes }) => ({
    ran: passes.length,
    found: violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
      `${id} ${target.join(' ')}: ${failureSummary.replace(/\\s+/g, ' ')}`)),
  }))"""
COLOUR = {"runOnly": {"type": "rule", "values": COLOURS}}
# Looking at colours scrolls the page, and then the box at its foot covers targets: they come first.
ELSE = {
    "runOnly": {"type": "tag", "values": TAGS},
    "rules": {"target-size": {"enabled": True}, **{name: {"enabled": False} for name in COLOURS}},
}


def findings(page: Page) -> list[str]:
    """Return the findings in light and in dark colours, once the whole page is there."""
    page.wait_for_load_state()
    found = _run(page, ELSE)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {finding}" for finding in _run(page, COLOUR)]
    return found


def _run(page: Page, options: dict[str, Any]) -> list[str]:
    page.wait_for_function(SETTLED)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    result = page.evaluate(RUN, options)
    assert result["ran"], "axe found nothing that it could judge"
    return [str(finding) for finding in result["found"]]
