"""Buttons stay large enough for a finger, whichever font a machine uses."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from tests.admin.seed_cli import plant
from tests.conftest import missing
from tests.e2e.chat_page import Window
from tests.e2e.conftest import launched
from tests.e2e.fonts import PACKAGES, fonts_of
from tests.support.server import Server

LEAST = 24  # CSS pixels: WCAG 2.2, success criterion 2.5.8
# More than one page of runs, of messages, and of versions.
PLANTED = """
long = talk("alice", "A long one", 120)
branch(messages_of(long)[-3], long)
print(long.pk)
"""
ADMINISTRATION = [
    "",
    "chat/run/",
    "chat/run/?o=1.2",
    "chat/user/",
    "chat/user/1/change/",
    "chat/conversation/",
]
PAGES = ["/", "/settings/", "/settings/keys/", "/accounts/password/", "/conversations/"]
# All that is pressed, but what WCAG excepts: links in a sentence, and boxes to tick, which the browser draws.
SMALL = """(least) => {
  const shown = { visibilityProperty: true, contentVisibilityAuto: true };
  const inSentence = (el) => el.matches('a') && getComputedStyle(el).display === 'inline' &&
    el.parentNode.textContent.trim().length > el.textContent.trim().length + 2;
  const inputs = 'input:not([type=hidden], [type=checkbox])';
  return [...document.querySelectorAll(`a[href], button, summary, select, ${inputs}`)]
    .filter((el) => el.checkVisibility(shown) && getComputedStyle(el).clipPath === 'none' && !inSentence(el))
    .map((el) => [el.outerHTML.slice(0, 120), (el.closest('label') ?? el).getBoundingClientRect()])
    .filter(([, { width, height }]) => width < least || height < least)
    .map(([html, { width, height }]) => `${width.toFixed(1)} × ${height.toFixed(1)} ${html}`);
}"""


@pytest.fixture(scope="module", params=PACKAGES)
def chromium(
    request: pytest.FixtureRequest, playwright: Playwright, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """Set in this font, and in no other one."""
    family = request.param
    with launched(playwright, family, tmp_path_factory.mktemp("fonts")) as browser:
        if fonts_of(browser) != {family}:
            missing(family, f"install the package {PACKAGES[family]}")
        yield browser


@pytest.fixture(scope="module")
def planted(server: Server) -> str:
    """The address of a long conversation."""
    return plant(server, PLANTED)[0]


def too_small(page: Page, address: str) -> list[str]:
    found = []
    page.goto(address)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator("body")).to_have_js_property("clientWidth", width)
        found += [f"{address} at {width}: {small}" for small in page.evaluate(SMALL, LEAST)]
    return found


def test_the_administration_is_large_enough(window: Window, server: Server, planted: str) -> None:
    page = window(server, "root", at="/admin/chat/run/")
    expect(page.locator(".paginator a").first).to_be_visible()
    addresses = [f"/admin/{path}" for path in (*ADMINISTRATION, f"chat/conversation/{planted}/change/")]
    assert [found for address in addresses for found in too_small(page, address)] == []


def test_the_pages_of_the_chat_are_large_enough(window: Window, server: Server, planted: str) -> None:
    page = window(server, "alice")
    assert [found for address in (*PAGES, f"/c/{planted}/") for found in too_small(page, address)] == []
