"""The sources below a reply: they come with its end, open by keyboard, and stay after a reload."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.e2e import axe
from tests.e2e.chat_page import ChatPage, Window, open_instructions
from tests.support.server import Server

FITS = "() => document.scrollingElement.scrollWidth <= innerWidth"


@pytest.fixture
def site(servers: Callable[..., Server]) -> Server:
    return servers(AI_SEARCH_INSTANCES="handbook=Our handbook,web", DEFAULT_MODEL="ai-search/handbook")


def test_sources_come_with_the_end_and_stay(site: Server, window: Window) -> None:
    chat = ChatPage.open(window, site, width=390, **axe.WINDOW)
    page = chat.page
    open_instructions(page)
    expect(page.get_by_text("The parameters of this model are set in AI Search.")).to_be_visible()
    page.keyboard.press("Escape")
    chat.asked("How many days?")
    sources = chat.reply.get_by_role("region", name="Sources")
    expect(sources.get_by_role("listitem")).to_have_count(2)
    passage = sources.get_by_text("Everybody has 30 days of holiday a year.")
    expect(passage).to_be_hidden()
    sources.locator("summary").first.press("Enter")
    expect(passage).to_be_visible()
    expect(sources.get_by_text("<b>No exceptions.</b>")).to_be_visible()
    sources.locator("summary").last.press("Enter")
    link = sources.get_by_role("link")
    expect(link).to_have_attribute("href", "https://intranet.example/rules?page=2")
    expect(link).to_have_attribute("rel", "nofollow noopener noreferrer")
    assert page.evaluate(FITS)
    assert axe.findings(page) == []
    shown = sources.inner_html()
    page.reload()
    expect(sources.get_by_role("listitem")).to_have_count(2)
    assert sources.inner_html() == shown.replace(' open=""', "")


def test_the_buttons_come_with_the_sources_so_that_they_stay(site: Server, window: Window) -> None:
    chat = ChatPage.open(window, site, width=390)
    held: list[Route] = []
    chat.page.route("**/outcome/", lambda route: held.append(route))
    with chat.page.expect_request("**/outcome/"):
        chat.asked("How many days?")
    copy = chat.reply.get_by_role("button", name="Copy message")
    expect(copy).to_be_hidden()
    held[0].continue_()
    expect(copy).to_be_visible()
    expect(chat.reply.get_by_role("region", name="Sources")).to_be_visible()


def test_the_title_of_a_source_begins_beside_its_number(site: Server, window: Window) -> None:
    chat = ChatPage.open(window, site, width=390)
    chat.asked("How many days?")
    source = chat.reply.locator(".citations summary").last
    source.locator("bdi").evaluate("title => { title.textContent = 'A long title of a page '.repeat(4); }")
    tops = source.evaluate(
        "source => ['.ordinal', 'bdi'].map((each) => source.querySelector(each).getClientRects()[0].top)"
    )
    assert tops[0] == pytest.approx(tops[1], abs=4)
