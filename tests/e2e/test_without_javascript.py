"""The chat with JavaScript off: forms and reloads do the same."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import ChatPage, Window, account_item, question, text_of, words
from tests.e2e.input_methods import named
from tests.e2e.seed import numbered, talk
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
    files = chat.page.get_by_role("button", name="Add files")
    for part in (chat.box, chat.page.locator("#hint"), files):  # what is typed there would be forgotten
        expect(part).to_be_hidden()
    expect(chat.reply).to_have_attribute("data-status", "complete")
    assert text_of(chat.reply) == words(50)
    assert chat.page.locator("noscript meta").count() == 0
    for part in (chat.box, chat.page.locator("#hint"), files):
        expect(part).to_be_visible()


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


def complete(chat: ChatPage) -> None:
    expect(chat.reply).to_have_attribute("data-status", "complete")


def test_a_reply_that_was_cut_goes_on(chat: ChatPage) -> None:
    ask(chat, f"{question('length tokens=5')}\nfake-then: words tokens=3")
    expect(chat.reply).to_have_attribute("data-status", "truncated")
    named(chat.reply, "Continue").click()
    complete(chat)
    expect(chat.reply.locator("[data-part=text]")).to_have_text(words(5) + "more1 more2 more3")


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
