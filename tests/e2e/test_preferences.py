"""The settings of a browser, as somebody chooses them and as the chat then behaves."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.accessibility import problems
from tests.e2e.chat_page import ChatPage, Window, question
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

NOTHING, BLOCKS = "Nothing", "The reply, paragraph by paragraph"
GROUND = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(23, 24, 26)"
MARKDOWN = (
    "# Bread\n\nKnead it.\n\n| day | do |\n|---|---|\n| 1 | feed |\n\n```python\nrest(2)\n```\n\nBake it."
)
PARTS = ["Bread", "Knead it.", "day\tdo\n1\tfeed", "python\nrest(2)", "Bake it."]
# What a screen reader is given to say, piece by piece.
LISTEN = """() => {
  window.heard = [];
  const region = document.querySelector('#spoken') ?? document.querySelector('#status');
  new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      heard.push(...Array.from(addedNodes, (node) => node.textContent).filter(Boolean));
    }
  }).observe(region, { childList: true, subtree: true });
}"""


def choose(page: Page, *labels: str) -> None:
    page.goto("/settings/")
    for label in labels:
        page.get_by_label(label).check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Your settings are saved.")


def listened(chat: ChatPage, asked: str, status: str = "complete") -> list[str]:
    """What is said while a question is answered."""
    chat.page.goto("/")
    expect(chat.send).to_be_visible()
    chat.page.evaluate(LISTEN)
    chat.ask(asked)
    chat.ended(status)
    chat.page.evaluate("() => new Promise(requestAnimationFrame)")
    heard: list[str] = chat.page.evaluate("heard")
    return heard


@pytest.mark.parametrize("script", [True, False], ids=["with scripts", "without"])
def test_a_choice_is_made_from_the_sidebar_and_shown_at_once(
    window: Window, server: Server, script: bool
) -> None:
    page = window(server, "alice", color_scheme="light", java_script_enabled=script)
    page.goto("/")
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Dark").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Your settings are saved.")
    expect(page.get_by_label("Dark")).to_be_checked()
    page.get_by_role("link", name="Back to the chat").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("device", ["light", "dark"])
def test_the_appearance_is_the_chosen_one_whatever_the_device_likes(
    window: Window, server: Server, device: str
) -> None:
    page = window(server, "alice", color_scheme=device)
    by_device = LIGHT if device == "light" else DARK
    for label, ground in (("Light", LIGHT), ("Dark", DARK), ("As the device", by_device)):
        choose(page, label)
        page.goto("/")
        assert page.evaluate(GROUND) == ground
        assert problems(page) == []
        page.emulate_media(color_scheme=device)


def test_enter_makes_a_line_for_who_likes_that(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    choose(chat.page, "Makes a new line")
    chat.page.goto("/")
    expect(chat.box).to_have_accessible_description(re.compile("^Enter makes a new line, Ctrl or Cmd"))
    chat.box.press_sequentially("one")
    chat.box.press("Enter")
    chat.box.press_sequentially("two")
    expect(chat.box).to_have_value("one\ntwo")
    chat.box.press("Control+Enter")
    assert chat.ended() == "You said: one\ntwo"
    chat.questions.last.get_by_role("button", name="Edit").click()
    editor = chat.page.get_by_role("textbox", name="Edit your message")
    editor.press("Enter")
    expect(editor).to_have_value("one\ntwo\n")
    editor.press_sequentially("three")
    editor.press("Control+Enter")
    expect(chat.questions.last.locator("[data-part=text]")).to_have_text("one\ntwo\nthree")
    chat.ended()


def test_the_boundaries_of_a_reply_are_said_by_default(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    heard = listened(chat, says_line(MARKDOWN, size=4, delay=0.02))
    assert heard[0].endswith(" is replying")
    assert heard[1:] == ["The reply is finished"]


def test_a_reply_that_fails_says_how(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    heard = listened(chat, question("length tokens=3"), "truncated")
    assert heard[-1] == "The reply has ended. The reply reached its greatest length."


def test_nothing_is_said_to_who_wants_to_hear_nothing(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    choose(chat.page, NOTHING)
    assert listened(chat, "Hello") == []


def test_each_block_is_said_once_when_it_is_whole(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    choose(chat.page, BLOCKS)
    heard = listened(chat, says_line(MARKDOWN, size=2, delay=0.08))
    assert "\n".join(heard) == "\n".join([*PARTS, "The reply is finished"])
    assert len(heard) <= len(PARTS)
    heard = listened(chat, question("length tokens=3"), "truncated")
    assert heard == ["word1 word2 word3\nThe reply has ended. The reply reached its greatest length."]


def test_a_page_opened_amid_a_reply_says_what_is_new(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice"))
    choose(chat.page, BLOCKS)
    chat.page.goto("/")
    paragraphs = [f"Paragraph {n} of the long reply." for n in range(14)]  # seconds for the reload
    chat.ask(says_line("\n\n".join(paragraphs), size=8, delay=0.15))
    expect(chat.reply.locator("[data-part=text] > p").nth(3)).to_be_attached()
    chat.page.reload()
    chat.page.evaluate(LISTEN)
    chat.ended()
    said = "\n".join(chat.page.evaluate("heard"))
    assert said.endswith("\n".join([*paragraphs[-2:], "The reply is finished"]))
    assert paragraphs[0] not in said
    assert all(said.count(paragraph) <= 1 for paragraph in paragraphs)


@pytest.mark.parametrize(("label", "loads"), [(BLOCKS, 1), (NOTHING, 0)])
def test_the_module_that_reads_aloud_is_loaded_for_who_chose_it(
    window: Window, server: Server, label: str, loads: int
) -> None:
    page = window(server, "alice")
    choose(page, label)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/", wait_until="networkidle")
    assert sum("announcer" in url for url in asked) == loads
    assert sum("chat." in url and url.endswith(".js") for url in asked) == 1
