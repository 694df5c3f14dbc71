"""Instructions for a conversation."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, open_instructions
from tests.e2e.input_methods import KEYBOARD, MOUSE, MOUSE_ELSEWHERE, Way
from tests.e2e.sidebar_page import Shell
from tests.support.server import Server

DOT = "getComputedStyle(document.getElementById('menu-button'), '::after').content !== 'none'"

pytestmark = pytest.mark.usefixtures("one")


def opened(shell: Shell) -> Shell:
    shell.open_instructions()
    expect(shell.instructions.get_by_role("textbox")).to_be_focused()
    return shell


def told(fake) -> list[str]:
    return [m["content"] for m in fake.calls[-1]["body"]["messages"] if m["role"] == "system"]


@MOUSE_ELSEWHERE
def test_instructions_are_saved_and_told_to_the_model(
    window: Window, server: Server, one, fake, way: Way
) -> None:
    shell = Shell.open(window, server, way, f"/c/{one}/")
    assert not shell.page.evaluate(DOT)
    opened(shell)
    shell.page.keyboard.type("Answer in one word.")
    expect(shell.instructions.get_by_text("19 of 20,000 characters")).to_be_visible()
    shell.press(shell.instructions.get_by_role("button", name="Save"))
    expect(shell.instructions).to_be_hidden()
    assert shell.page.evaluate(DOT)
    shell.chat.asked("Hello")
    assert told(fake) == ["Answer in one word."]
    shell.page.reload()
    assert shell.page.evaluate(DOT)


def test_a_new_chats_instructions_go_with_its_first_question(window: Window, server: Server, fake) -> None:
    """Use the keyboard only, because the dialog is the one of the test above."""
    shell = opened(Shell.open(window, server, KEYBOARD))
    shell.page.keyboard.type("Be kind.")
    shell.page.keyboard.press("Control+Enter")
    expect(shell.instructions).to_be_hidden()
    shell.page.reload()
    assert shell.page.evaluate(DOT)
    opened(shell)
    expect(shell.instructions.get_by_role("textbox")).to_have_value("Be kind.")
    shell.page.keyboard.press("Escape")
    expect(shell.instructions).to_be_hidden()
    expect(shell.page.get_by_role("button", name="More", exact=True)).to_be_focused()
    shell.chat.asked("Hello")
    assert told(fake) == ["Be kind."]
    opened(shell)
    shell.instructions.get_by_role("textbox").fill("Be short.")
    shell.press(shell.instructions.get_by_role("button", name="Save"))
    expect(shell.instructions).to_be_hidden()
    shell.chat.ask("And now?")
    expect(shell.chat.replies).to_have_count(2)  # a finger's tap is heard a moment later
    shell.chat.ended()
    assert told(fake) == ["Be short."]


def test_instructions_that_cannot_be_saved_stay_in_the_box(window: Window, server: Server, one) -> None:
    shell = opened(Shell.open(window, server, MOUSE, f"/c/{one}/"))
    shell.page.route("**/settings/", lambda route: route.abort())
    shell.page.keyboard.type("Be kind.")
    shell.press(shell.instructions.get_by_role("button", name="Save"))
    expect(shell.instructions.get_by_role("alert")).to_have_text("Can’t reach the server. Try again.")
    shell.page.unroute_all()
    shell.press(shell.instructions.get_by_role("button", name="Save"))
    expect(shell.instructions).to_be_hidden()


def test_the_dialog_shows_how_full_the_context_is(chat: ChatPage) -> None:
    chat.asked("Hello")
    open_instructions(chat.page)
    gauge = chat.page.get_by_role("meter", name="Context window")
    expect(gauge).to_be_visible()
    expect(gauge).to_have_accessible_description(re.compile(r"^About [\d,]+ of [\d,]+ tokens"))
