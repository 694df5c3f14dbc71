"""A generated title appears on every open page of its conversation, and disturbs nobody."""

import time
from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window
from tests.fake_cloudflare.server import Fake
from tests.support.server import Server

SMALL = "granite-4.0-h-micro"
ASKED = (
    f"Tell me about boats\nfake: words tokens=5 delay=0\nfake for {SMALL}: held after=1 tokens=2 key=title"
)
TITLE = "word1 word2"


def test_open_pages_show_a_generated_title_at_once(
    window: Window, servers: Callable[..., Server], fake: Fake
) -> None:
    server = servers(TITLE_MODEL="")
    chat = ChatPage.open(window, server)
    chat.ask(ASKED)
    chat.ended()
    chat.has_address()
    elsewhere = ChatPage.open(window, server)
    elsewhere.page.goto(chat.page.url)
    for page in (chat.page, elsewhere.page):
        expect(page).to_have_title("Tell me about boats")
    chat.box.fill("Half a sentence")
    fake.wait_for(lambda calls: any(call["path"].endswith(SMALL) for call in calls))
    fake.go_on("title")
    began = time.monotonic()
    for page in (chat.page, elsewhere.page):
        expect(page).to_have_title(TITLE, timeout=10_000)
        expect(page.locator("h1")).to_have_text(TITLE)
        expect(page.locator("#conversations [aria-current]")).to_have_text(TITLE)
    assert time.monotonic() - began < 6, "1.5 seconds, on a busy machine"
    expect(chat.box).to_be_focused()
    expect(chat.box).to_have_value("Half a sentence")
