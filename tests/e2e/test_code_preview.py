"""The preview of a code block, in the place of its code."""

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.input_methods import reach
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

DOCUMENT = """<html><head>
<link rel="stylesheet" href="/static/css/chat.css">
<meta http-equiv="refresh" content="0; url=/">
<style>h1 { color: rgb(1, 2, 3) }</style>
</head><body onload="document.body.append('it ran')">
<h1>Menu</h1>
<script>document.body.append('it ran'); top.location = '/settings/';</script>
<img src="/static/img/icon-192.png" alt="remote">
<img src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='7' height='7'/%3E" alt="own">
<form action="/accounts/logout/" method="post"><button>Send</button></form>
</body></html>
"""
SVG = '<svg viewBox="0 0 9 9"><script>document.title = "it ran"</script><rect width="9" height="9"/></svg>\n'
TEXT = f"Here:\n\n```python\nx = 1\n```\n\n```html\n{DOCUMENT}```\n\n```svg\n{SVG}```\n\nDone.\n"
WIDTH = "image => image.naturalWidth"


@pytest.fixture(scope="module")
def chromium(isolating_chromium: Browser) -> Browser:
    """A preview opens in a new tab, as a document without an origin."""
    return isolating_chromium


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    chat = ChatPage.open(window, server)
    chat.ask(f"Go on.\n{says_line(TEXT, size=40, delay=0.01)}")
    chat.ended()
    return chat


def block(chat: ChatPage, language: str) -> Locator:
    return chat.page.locator("figure.code").filter(has=chat.page.get_by_text(language, exact=True))


def button(chat: ChatPage, language: str) -> Locator:
    return block(chat, language).get_by_role("button", name="Preview", exact=True)


def test_a_preview_takes_the_place_of_its_code(chat: ChatPage) -> None:
    assert [button(chat, name).count() for name in ("python", "html", "svg")] == [0, 1, 1]
    reach(button(chat, "html"))
    chat.page.keyboard.press("Enter")
    html = block(chat, "html")
    frame = html.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Menu")).to_have_css("color", "rgb(1, 2, 3)")
    expect(frame.locator("body")).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(frame.get_by_text("it ran")).to_have_count(0)
    assert [frame.get_by_alt_text(name).evaluate(WIDTH) for name in ("remote", "own")] == [0, 7]
    expect(html.locator("pre")).to_be_hidden()
    expect(button(chat, "html")).to_be_focused()
    expect(button(chat, "html")).to_have_attribute("aria-pressed", "true")
    frame.get_by_role("button", name="Send").click()
    reach(button(chat, "html"))
    chat.page.keyboard.press("Enter")
    expect(html.locator("pre")).to_be_visible()
    expect(html.locator("iframe")).to_have_count(0)
    expect(chat.page).to_have_url(chat.page.url)
    button(chat, "svg").click()
    expect(block(chat, "svg").frame_locator("iframe").locator("rect")).to_be_visible()


def test_a_preview_opens_in_a_tab_of_its_own(chat: ChatPage) -> None:
    button(chat, "html").click()
    with chat.page.expect_popup() as opened:
        block(chat, "html").get_by_role("link", name="Open in a new tab").click()
    expect(opened.value.get_by_role("heading", name="Menu")).to_be_visible()
    assert opened.value.evaluate("window.origin") == "null"


def test_a_preview_that_fails_says_so_and_keeps_the_code(chat: ChatPage) -> None:
    chat.page.context.clear_cookies()
    button(chat, "html").click()
    expect(chat.page.get_by_text("This didn’t work.")).to_be_visible()
    expect(block(chat, "html").locator("pre")).to_be_visible()
