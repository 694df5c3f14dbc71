"""A reply that thinking left no tokens for: what its page says and offers, also after a reload."""

import time

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, open_instructions, question
from tests.e2e.input_methods import FINGER, KEYBOARD, Way, named, walks
from tests.support.server import Server
from tests.support.waiting import until

SAID = "The model used all its tokens for thinking and had none left for the reply."
MORE, LESS = "Try again with 32,768 tokens", "Try again without thinking"


def burnt(chat: ChatPage, how: str = "enough=20000") -> None:
    chat.asked(question(f"burnt {how}"), "truncated")
    expect(chat.reply.locator("[data-part=status-text]")).to_have_text(SAID)
    expect(named(chat.reply, MORE)).to_be_visible()


@pytest.mark.parametrize(("way", "offer"), [(KEYBOARD, LESS), (FINGER, MORE)])
def test_one_press_tries_again_with_more_or_less(
    window: Window, server: Server, fake, way: Way, offer: str
) -> None:
    chat = ChatPage.open(window, server, **way.window)
    burnt(chat)
    expect(named(chat.reply, "Continue")).to_have_count(0)
    way.press(named(chat.reply, offer))
    chat.ended()
    assert chat.text.startswith("You said:") or chat.text.startswith("word1")
    walks(chat.reply, 2, 2)
    chat.ask("And now?")
    expect(chat.questions).to_have_count(2)  # a finger's tap is heard a moment later
    chat.ended()
    body = fake.calls[-1]["body"]
    assert (body["max_tokens"], body.get("chat_template_kwargs")) == (
        (32_768, None) if offer == MORE else (16_384, {"enable_thinking": False})
    )
    dialog = open_instructions(chat.page)
    if offer == MORE:
        expect(dialog.get_by_role("spinbutton", name="Longest reply (tokens)")).to_have_value("32768")
    else:
        expect(dialog.get_by_role("radio", name="Off")).to_have_count(0)
        chat.page.keyboard.press("Escape")
        expect(chat.page.get_by_role("switch", name="Thinking")).not_to_be_checked()


def test_a_reload_shows_the_same(chat: ChatPage) -> None:
    # The page shows its own minute, a reload the server's: both must be the same one.
    until(lambda: time.localtime().tm_sec < 40)
    burnt(chat)
    seen = chat.reply.inner_text()
    chat.page.reload()
    expect(named(chat.reply, MORE)).to_be_visible()
    assert chat.reply.inner_text() == seen
    named(chat.reply, LESS).click()
    chat.ended()


def test_it_fits(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=320)
    burnt(chat)
    assert chat.page.evaluate("document.documentElement.scrollWidth") <= 320
