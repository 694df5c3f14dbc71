"""The list marks replies that are being written or were not seen, and keeps its titles up to date."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import ChatPage, Window, question
from tests.e2e.input_methods import FINGER, KEYBOARD, MOUSE
from tests.e2e.sidebar_page import HELD, Shell, conversations, drop, look
from tests.fake_cloudflare.server import Fake
from tests.support.server import Server

SLOWLY = "words tokens=2000 delay=0.02"


@pytest.fixture(autouse=True)
def empty(server: Server) -> None:
    drop(server.database, "alice")


def marked(item: Locator, state: str) -> None:
    """Check the mark, which is a dot and words."""
    words = {"replying": "reply in progress", "unseen": "has a new reply"}
    expect(item).to_have_attribute("data-state", state)
    expect(item.get_by_role("link")).to_have_accessible_name(f"Tell me something. – {words[state]}")


def unmarked(item: Locator) -> None:
    expect(item).not_to_have_attribute("data-state", "replying")
    expect(item).not_to_have_attribute("data-state", "unseen")


@pytest.mark.parametrize("way", [MOUSE, FINGER], ids=lambda way: way.name)
def test_a_reply_elsewhere_is_marked_until_it_is_seen(window: Window, server: Server, way) -> None:
    shell = Shell.open(window, server, way)
    shell.chat.ask(question(SLOWLY))
    shell.chat.grown_to(20)
    run = str(shell.chat.reply.get_attribute("data-run"))
    shell.page.goto("/")
    item = shell.item("Tell me something.")
    shell.show_list()
    marked(item, "replying")
    assert server.person("alice").stop(run).is_success  # not before it was looked at
    marked(item, "unseen")  # without a reload
    shell.page.reload()
    shell.show_list()
    marked(item, "unseen")
    with shell.page.expect_response("**/seen/"):
        shell.press(item.get_by_role("link"))
        shell.chat.ended("stopped")
    shell.show_list()
    unmarked(item)
    shell.page.goto("/")
    shell.show_list()
    unmarked(item)


def test_a_reply_that_ends_before_ones_eyes_is_seen(window: Window, server: Server) -> None:
    shell = Shell.open(window, server, MOUSE)
    with shell.page.expect_response("**/seen/") as seen:
        shell.chat.asked("Hello")
    assert seen.value.ok
    shell.page.goto("/")
    unmarked(shell.item("Hello"))


def test_a_reply_in_a_hidden_tab_is_seen_with_the_tab(window: Window, server: Server) -> None:
    shell = Shell.open(window, server, MOUSE)
    shell.chat.ask(question("words tokens=200 delay=0.02"))
    shell.chat.grown_to(20)
    calls: list[str] = []
    shell.page.on("request", lambda request: calls.append(request.url))
    look(shell.page, hidden=True)
    shell.chat.ended()
    assert not [url for url in calls if url.endswith("/seen/")]
    with shell.page.expect_response("**/seen/"):
        look(shell.page, hidden=False)


def test_a_list_update_keeps_the_focus_and_an_open_box(window: Window, server: Server) -> None:
    conversations(server.database, "alice", ["Sailing", "Baking"])
    shell = Shell.open(window, server, KEYBOARD)
    other = Shell(shell.page.context.new_page(), KEYBOARD)
    other.page.goto("/")
    other.chat.ask(question(SLOWLY))
    other.chat.grown_to(20)
    link = shell.item("Baking").get_by_role("link")
    shell.reach(link)
    look(shell.page, hidden=True)
    look(shell.page, hidden=False)
    expect(shell.item("Tell me something.")).to_be_visible()
    assert shell.titles()[1:] == ["Sailing", "Baking"]
    assert link.evaluate(HELD)
    shell.page.keyboard.press("F2")
    shell.title_box.fill("Bre")
    with shell.page.expect_response("**/conversations/"):
        other.chat.stop.click()
        other.chat.ended("stopped")
    shell.page.keyboard.press("End")
    shell.page.keyboard.type("ad")
    expect(shell.title_box).to_have_value("Bread")
    shell.page.keyboard.press("Enter")
    expect(shell.item("Bread").get_by_role("link")).to_be_focused()
    other.page.close()


def test_a_new_conversation_and_one_that_goes_on_stand_first(window: Window, server: Server) -> None:
    old = conversations(server.database, "alice", ["Sailing", "Baking", "Packing"])[2]
    shell = Shell.open(window, server, MOUSE, f"/c/{old}/")
    with shell.page.expect_response("**/seen/"):  # what is left before that is marked as new
        shell.chat.asked("Hello")
    links = shell.list.locator("li:visible > a")
    expect(links).to_have_text(["Packing", "Sailing", "Baking"])
    with shell.page.expect_navigation():
        shell.page.get_by_role("link", name="New chat").click()
    shell.chat.ask("A new subject")
    shell.chat.has_address()
    expect(shell.heading).to_have_text("A new subject")
    expect(links).to_have_text(["A new subject", "Packing", "Sailing", "Baking"])
    expect(shell.item("A new subject").get_by_role("link")).to_have_attribute("aria-current", "page")
    before = shell.list.inner_text()
    shell.chat.ended()
    shell.page.reload()
    assert shell.list.inner_text() == before


@pytest.mark.parametrize("width", [1280, 390])
def test_shortcuts_work_from_the_message_box(window: Window, server: Server, width: int) -> None:
    old = conversations(server.database, "alice", ["Sailing"])[0]
    page = window(server, "alice", at=f"/c/{old}/", width=width)
    shell = Shell(page, KEYBOARD)
    shown = shell.sidebar.is_visible()
    page.keyboard.press("Control+Shift+S")
    expect(shell.list).to_be_visible(visible=not shown)
    if width == 1280:
        page.reload()
        expect(shell.list).to_be_hidden()
        shell.press(page.get_by_role("button", name="Chats", exact=True))
        expect(shell.list).to_be_visible()
        page.keyboard.press("Control+Shift+S")
    page.keyboard.press("Control+Shift+S")
    expect(shell.list).to_be_visible(visible=shown)
    page.keyboard.press("Shift+Escape")
    expect(shell.chat.box).to_be_focused()
    page.keyboard.press("Control+Shift+O")
    expect(shell.heading).to_have_text("New chat")


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
    chat.asked(ASKED)
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
