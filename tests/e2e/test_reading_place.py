"""The scroll position is kept when a reader comes back to a conversation or reloads it."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.chat_page import Window
from tests.e2e.page_observers import stands
from tests.e2e.seed import numbered, talk
from tests.support.server import Server

TOP = "() => document.querySelectorAll('.message')[20].getBoundingClientRect().top"
TEXT = "document.querySelectorAll('.message')[20].textContent"
NO_CACHE = "addEventListener('unload', () => {})"  # the page is loaded again when one goes back


@pytest.fixture(scope="module")
def chromium(request: pytest.FixtureRequest, chromium: Browser) -> Browser:
    """The whole Chromium for the test that asks for it: the headless shell has no back-forward cache.

    The shell also leaves a page where it scrolled to when what is above it changes its height.
    """
    whole = getattr(request, "param", False)
    return request.getfixturevalue("whole_chromium") if whole else chromium


def at_the_middle(page: Page, address: str) -> float:
    """Scroll to message 21 and return its position."""
    page.goto(address)
    page.evaluate("document.querySelectorAll('.message')[20].scrollIntoView()")
    page.mouse.move(700, 300)
    page.mouse.wheel(0, -30)
    stands(page)
    return float(page.evaluate(TOP))


@pytest.mark.parametrize(
    ("chromium", "script"), [(True, ""), (False, NO_CACHE)], ids=["cached", "loaded"], indirect=["chromium"]
)
def test_back_and_forward_lead_to_the_place(window: Window, server: Server, script: str) -> None:
    page = window(server, "alice")
    page.add_init_script(script)
    one, two = (talk(server, "alice", numbered(40)) for _ in range(2))
    first = at_the_middle(page, one)
    second = at_the_middle(page, two)
    page.go_back()
    expect(page).to_have_url(f"{server.url}{one}")
    stands(page)
    assert abs(page.evaluate(TOP) - first) < 2
    page.go_forward()
    expect(page).to_have_url(f"{server.url}{two}")
    stands(page)
    assert abs(page.evaluate(TOP) - second) < 2
    page.reload()
    stands(page)
    assert abs(page.evaluate(TOP) - second) < 2


def test_back_leads_to_a_place_among_older_messages(window: Window, server: Server) -> None:
    page = window(server, "alice")
    page.add_init_script(NO_CACHE)
    page.goto(talk(server, "alice", numbered(120)))
    for count in (100, 120):
        page.evaluate("document.querySelector('.older').scrollIntoView()")
        page.wait_for_function(f"() => document.querySelectorAll('.message').length >= {count}")
    page.mouse.move(700, 300)
    page.mouse.wheel(0, -30)
    page.evaluate("document.querySelectorAll('.message')[20].scrollIntoView()")
    stands(page)
    where, text = page.evaluate(TOP), page.evaluate(TEXT)
    page.goto("/")
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('.message').length >= 120")
    stands(page)
    assert page.evaluate(TEXT) == text
    assert abs(page.evaluate(TOP) - where) < 2


def test_a_link_leads_to_the_end(window: Window, server: Server) -> None:
    page = window(server, "alice")
    address = talk(server, "alice", numbered(40))
    at_the_middle(page, address)
    page.goto("/")
    page.goto(address)
    stands(page)
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY") < 2
