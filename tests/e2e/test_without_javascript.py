"""The chat with JavaScript off: forms and reloads do the same."""

from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import WHY, ChatPage, Window, account_item, question, text_of, words
from tests.e2e.input_methods import MOUSE, named, walks
from tests.e2e.seed import numbered, talk
from tests.e2e.sidebar_page import conversations
from tests.files import pictures
from tests.support.people import PASSWORD
from tests.support.server import Server


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return ChatPage.open(window, server, java_script_enabled=False)


def test_signing_in_asking_and_signing_out_need_no_script(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, "", java_script_enabled=False)
    chat.page.get_by_label("Name or email").fill("carol@example.org")
    chat.page.get_by_label("Password", exact=True).fill(PASSWORD)
    chat.page.get_by_role("button", name="Sign in").click()
    ask(chat, "Hello")
    expect(chat.reply).to_have_attribute("data-status", "complete")
    texts = chat.replies.locator("[data-part=text]")
    expect(texts).to_have_text(["You said: Hello"])
    ask(chat, "And again")
    expect(chat.reply).to_have_attribute("data-status", "complete")
    expect(texts).to_have_text(["You said: Hello", "You said: And again"])
    account_item(chat.page, "Sign out").click()
    expect(chat.page.get_by_role("heading", name="Sign in")).to_be_visible()


def scrolled(page: Page) -> float:
    """Return the scroll position in pixels; asked of the browser, because the page runs no script."""
    metrics = page.context.new_cdp_session(page).send("Page.getLayoutMetrics")
    return metrics["cssVisualViewport"]["pageY"]


def menu(chat: ChatPage, entry: str) -> None:
    chat.page.get_by_role("button", name="More", exact=True).click()
    chat.page.locator("#menu").get_by_text(entry, exact=True).click()


def test_the_page_asks_again_until_the_reply_is_whole(chat: ChatPage) -> None:
    ask(chat, question("words tokens=50 delay=0.1"))
    assert len(text_of(chat.reply)) < len(words(50))
    expect(chat.box).to_be_hidden()  # what is typed there would be forgotten
    expect(chat.page.locator("#hint")).to_be_hidden()
    expect(chat.reply).to_have_attribute("data-status", "complete")
    assert text_of(chat.reply) == words(50)
    assert chat.page.locator("noscript meta").count() == 0
    expect(chat.box).to_be_visible()
    expect(chat.page.locator("#hint")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_no_unseen_mark_without_javascript(window: Window, server: Server, scripts: bool) -> None:
    chat = ChatPage.open(window, server, "bob", java_script_enabled=False)
    ask(chat, "Is this new?")
    expect(chat.reply).to_have_attribute("data-status", "complete")
    page = window(server, "bob", at="/", java_script_enabled=scripts)
    item = page.locator("#conversations li[data-state=unseen]").first
    expect(item).to_be_visible()
    name = "Is this new? – has a new reply" if scripts else "Is this new?"
    expect(item.get_by_role("link")).to_have_accessible_name(name)
    dot = "item => getComputedStyle(item, '::after').display"
    assert (item.evaluate(dot) == "none") is not scripts


def test_the_page_jumps_to_a_growing_reply_only_once(window: Window, server: Server) -> None:
    chat = ChatPage(window(server, "alice", java_script_enabled=False))
    chat.page.goto(talk(server, "alice", numbered(30)))
    ask(chat, question("words tokens=2000 delay=0.1"))
    expect(chat.reply).to_be_in_viewport()
    with chat.page.expect_navigation():  # to the address without the fragment
        pass
    expect(chat.reply).to_be_in_viewport()
    chat.page.mouse.move(600, 300)
    chat.page.mouse.wheel(0, -2000)
    expect(chat.reply).not_to_be_in_viewport()
    for _ in range(2):
        with chat.page.expect_navigation():
            pass
    expect(chat.reply).not_to_be_in_viewport()
    assert scrolled(chat.page) > 1000
    chat.page.get_by_role("button", name="Stop").click()
    expect(chat.reply).to_have_attribute("data-status", "stopped")


def test_the_page_of_a_message_grows_too(chat: ChatPage) -> None:
    """An address with a fragment, to which a plain refresh would only scroll."""
    ask(chat, "Hello")
    expect(chat.reply).to_have_attribute("data-status", "complete")
    ask(chat, question("words tokens=50 delay=0.1"))
    chat.replies.first.get_by_role("button", name="Good reply").click()
    expect(chat.reply).to_have_attribute("data-status", "complete")


def test_stop_delete_and_undo_work(chat: ChatPage) -> None:
    ask(chat, question("words tokens=2000 delay=0.05", "What is to be stopped?"))
    chat.stop.click()
    expect(chat.reply).to_have_attribute("data-status", "stopped")
    menu(chat, "Delete this chat")
    chat.page.get_by_role("button", name="Delete").click()
    expect(chat.page.get_by_role("heading", name="New chat")).to_be_visible()
    expect(chat.page.get_by_role("link", name="What is to be stopped?")).to_have_count(0)
    chat.page.get_by_role("button", name="Undo").click()
    chat.has_address()
    expect(chat.page.get_by_role("link", name="What is to be stopped?")).to_be_visible()


def test_older_messages_and_older_conversations_are_pages(window: Window, server: Server) -> None:
    page = window(server, "bob", at=talk(server, "bob", numbered(60)), java_script_enabled=False)
    page.get_by_role("link", name="Earlier messages").click()
    expect(page.get_by_text("Message 1. Line 0")).to_be_visible()
    titles = [f"Number {n}" for n in range(210)]
    conversations(server.database, "bob", titles, apart=timedelta(hours=1))
    page.goto("/")
    expect(page.get_by_role("link", name="Number 209")).to_have_count(0)
    page.get_by_role("link", name="Older chats").click()
    page.get_by_role("link", name="Number 209").click()
    expect(page.get_by_role("heading", name="Number 209")).to_be_visible()


def test_a_question_that_is_not_taken_stays_in_its_box(chat: ChatPage) -> None:
    """Send in a conversation that is answered in another tab, and in a new one."""
    ask(chat, "Hello")
    expect(chat.reply).to_have_attribute("data-status", "complete")
    other = chat.another_tab()
    ask(other, question("words tokens=2000 delay=0.05"))
    chat.box.fill("Not yet?")
    chat.send.click()
    expect(chat.notice).to_have_text("A reply is still being written. Wait for it or stop it.")
    expect(chat.box).to_have_value("Not yet?")
    assert chat.page.locator("noscript meta").count() == 0
    chat.stop.click()
    expect(chat.reply).to_have_attribute("data-status", "stopped")
    chat.page.goto("/")
    long = "x" * 200_001
    chat.box.fill(long)
    chat.send.click()
    expect(chat.notice).to_contain_text("Your message has")
    expect(chat.box).to_have_value(long)


def test_a_failed_reply_is_tried_again(chat: ChatPage) -> None:
    ask(chat, question("flaky fails=1 code=5007 key=plain"))
    chat.page.get_by_role("button", name="Try again").click()
    expect(chat.reply).to_have_attribute("data-status", "complete")
    assert text_of(chat.reply) == words(5)
    expect(chat.questions).to_have_count(1)


def test_files_are_not_offered_while_the_form_is_hidden(chat: ChatPage) -> None:
    files = chat.page.get_by_role("button", name="Add files")
    expect(files).to_be_visible()
    ask(chat, question("words tokens=400 delay=0.05"))
    expect(chat.page.get_by_role("button", name="Stop")).to_be_visible()
    expect(chat.box).to_be_hidden()
    expect(files).to_be_hidden()


def test_pictures_are_chosen_and_sent(chat: ChatPage, tmp_path: Path) -> None:
    for number, size in enumerate((40, 41)):
        (tmp_path / f"{number}.jpg").write_bytes(pictures.jpeg(size))
    chat.page.locator("select#model").select_option("@cf/google/gemma-4-26b-a4b-it")
    chosen = [str(path) for path in sorted(tmp_path.glob("*.jpg"))]
    chat.page.get_by_role("button", name="Add files").set_input_files(chosen)
    ask(chat, "What is this?")
    expect(chat.page.locator(".question .pictures img")).to_have_count(2)
    expect(chat.reply).to_have_attribute("data-status", "complete")
    address = chat.page.locator(".question .pictures a").first.get_attribute("href")
    assert address
    assert pictures.opened(chat.page.request.get(address).body()).size == (40, 48)


def complete(chat: ChatPage) -> None:
    expect(chat.reply).to_have_attribute("data-status", "complete")


def test_a_reply_is_regenerated_and_its_versions_walked(chat: ChatPage) -> None:
    ask(chat, question("words tokens=8"))
    complete(chat)
    MOUSE.press(named(chat.reply, "Regenerate"))
    walks(chat.reply, 2, 2)
    complete(chat)
    MOUSE.press(named(chat.reply, "Previous version"))
    walks(chat.reply, 1, 2)
    MOUSE.press(named(chat.reply, "Next version"))
    walks(chat.reply, 2, 2)


def test_a_reply_that_was_cut_goes_on(chat: ChatPage) -> None:
    ask(chat, f"{question('length tokens=5')}\nfake-then: words tokens=3")
    expect(chat.reply).to_have_attribute("data-status", "truncated")
    named(chat.reply, "Continue").click()
    complete(chat)
    expect(chat.reply.locator("[data-part=text]")).to_have_text(words(5) + "more1 more2 more3")


def test_a_thumb_is_given_with_a_reason_and_taken_back(chat: ChatPage) -> None:
    ask(chat, "Hello")
    complete(chat)
    MOUSE.press(named(chat.reply, "Bad reply"))
    expect(named(chat.reply, "Bad reply")).to_have_attribute("aria-pressed", "true")
    chat.reply.get_by_label(WHY).fill("Short")
    with chat.page.expect_event("load"):  # what was filled in stands in the old page, too
        named(chat.reply, "Send").click()
    expect(chat.reply.get_by_label(WHY)).to_have_value("Short")
    MOUSE.press(named(chat.reply, "Bad reply"))
    expect(named(chat.reply, "Bad reply")).to_have_attribute("aria-pressed", "false")
    expect(chat.reply.get_by_label(WHY)).to_have_count(0)


def test_actions_that_need_a_script_are_not_offered(chat: ChatPage) -> None:
    ask(chat, "Hello")
    complete(chat)
    expect(named(chat.reply, "Regenerate")).to_be_visible()
    expect(named(chat.reply, "Copy message")).to_be_hidden()
    expect(named(chat.questions.last, "Edit")).to_be_hidden()


def ask(chat: ChatPage, text: str) -> None:
    """Send a message and wait for the conversation's address."""
    chat.box.fill(text)
    sent(chat)
    chat.has_address()


def sent(chat: ChatPage) -> None:
    """Press Send and wait for the next page, which may look like the one before."""
    with chat.page.expect_navigation():
        chat.send.click()
