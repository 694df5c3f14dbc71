"""German and French: each page is translated, and nothing stands out of it or is cut off."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import ChatPage, Window, question
from tests.e2e.sidebar_page import conversations
from tests.e2e.translation_audit import too_wide
from tests.support.server import Server

LANGUAGES = {"de-DE": "de", "fr-FR": "fr"}
WIDTHS = (320, 390, 1280)
PAGES = ("/", "/conversations/", "/settings/readings/", "/settings/", "/settings/keys/", "/settings/api/")
ACCOUNT = ("/settings/instructions/", "/settings/usage/", "/settings/data/", "/settings/account/")
TOPS = "(parts) => new Set(parts.map((each) => each.getBoundingClientRect().top)).size"
ADMIN = ("", "chat/conversation/", "chat/sitemodel/", "chat/invite/add/", "checkup/", "connect/", "site/")


@pytest.fixture(params=LANGUAGES)
def reader(request: pytest.FixtureRequest, window: Window, server: Server) -> Iterator[Page]:
    page = window(server, "root", locale=request.param, reduced_motion="reduce")
    language = LANGUAGES[request.param]
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("lang", language)
    yield page
    assert page.locator("html").get_attribute("lang") == language


def fits(page: Page) -> None:
    assert too_wide(page, *WIDTHS) == [], page.url


def test_pages(reader: Page, server: Server) -> None:
    conversations(server.database, "root", ["One", "Two"])
    for path in (*PAGES, *ACCOUNT):
        reader.goto(path)
        fits(reader)


def test_pages_of_the_administration_fit_a_desktop(reader: Page) -> None:
    for path in ADMIN:
        reader.goto(f"/admin/{path}")
        assert too_wide(reader, 1280) == [], path
        assert reader.locator("#bar > a, #bar .group").evaluate_all(TOPS) == 1, path


def test_replies_and_dialogs(reader: Page) -> None:
    for scenario in ("reasoning think=5 tokens=5", "length tokens=5", "status http=429 code=3036"):
        reader.goto("/")
        reader.locator("#content").fill(question(scenario))
        reader.locator("#content").press("Enter")
        expect(ChatPage(reader).reply).not_to_have_attribute("data-status", "running")
        fits(reader)
    reader.locator("#pick").click()
    expect(reader.locator(".door").first).to_be_visible()
    fits(reader)
    reader.locator(".door[data-part=all]").click()
    expect(reader.locator("#models input").first).to_be_visible()
    fits(reader)
    reader.keyboard.press("Escape")
    reader.locator("#menu-button").click()
    reader.locator("#instructions").click()
    expect(reader.locator("#settings")).to_be_visible()
    fits(reader)
    reader.keyboard.press("Escape")
    reader.locator("#menu-button").click()
    fits(reader)
    reader.locator("#menu [data-opens=delete]").click()
    expect(reader.locator("#toast form")).to_be_visible()
    fits(reader)


@pytest.mark.parametrize("locale", LANGUAGES)
def test_pages_of_those_who_are_signed_out(window: Window, server: Server, locale: str) -> None:
    page = window(server, "", locale=locale)
    for path in ("/accounts/login/", "/accounts/invite/wrong/", "/nothing-here/"):
        page.goto(path)
        expect(page.locator("html")).to_have_attribute("lang", LANGUAGES[locale])
        fits(page)
