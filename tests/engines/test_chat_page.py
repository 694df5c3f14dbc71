"""The chat page in Firefox and in WebKit."""

from collections.abc import Callable

from tests.e2e.sample_texts import REPLIES
from tests.engines.chat_page import ChatPage
from tests.engines.conftest import PHONE
from tests.engines.firefox import Firefox
from tests.engines.webkit import WebKit
from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.people import PASSWORD
from tests.support.server import Server

Window = Callable[..., ChatPage]
Engine = Firefox | WebKit
EVERYTHING = says_line("\n\n".join(REPLIES))  # tables, code, lists
WIDER = "document.documentElement.scrollWidth - innerWidth"
LISTED = "Array.from(document.querySelectorAll('[type=radio]')).filter(isInView).length"
VERSION = "document.querySelector('[data-message] [role=group]')?.ariaLabel === args[0]"


def sign_in(chat: ChatPage) -> None:
    """Sign in as another person: a new password hash ends the older sessions of its person."""
    chat.browser.click("textbox", "Name or email")
    chat.browser.type("bob")
    chat.browser.press("Tab")
    chat.browser.type(PASSWORD)
    chat.browser.press("Enter")
    chat.browser.wait_until("location.pathname === '/'")


def test_one_signs_in_and_sends(window: Window, engine: Engine, server: Server) -> None:
    chat = window(engine, server)
    chat.goto()
    assert chat.path == "/accounts/login/"
    sign_in(chat)
    chat.ask("Is anybody there?")
    assert chat.ended() == "You said: Is anybody there?"
    assert chat.path.startswith("/c/")


def test_shift_and_enter_break_the_line_and_enter_sends(chat: ChatPage) -> None:
    chat.write("One\nTwo")
    assert chat.draft == "One\nTwo"
    chat.browser.press("Enter")
    assert chat.ended() == "You said: One\nTwo"
    assert chat.draft == ""


def test_a_draft_is_kept_over_a_reload(chat: ChatPage) -> None:
    chat.write("Not sent yet")
    chat.browser.reload()
    chat.browser.wait_until("find('textbox', 'Your message').value === 'Not sent yet'")


def test_an_edited_question_is_asked_anew(chat: ChatPage) -> None:
    chat.ask("The first")
    chat.ended()
    # What can be done with it shows then: a Firefox without a screen says that no mouse is there.
    chat.browser.hover("article", "You said")
    chat.browser.click("button", "Edit")
    chat.browser.holds("textbox", "Edit your message")
    chat.browser.press("Control", "a")
    chat.browser.type("The second")
    chat.browser.click("button", "Save and send")
    chat.browser.wait_until(VERSION, "Version 2 of 2")
    assert chat.ended() == "You said: The second"
    chat.browser.click("button", "Previous version")
    chat.browser.wait_until(VERSION, "Version 1 of 2")
    assert chat.texts == ["The first", "You said: The first"]


def test_another_version_of_a_reply_is_asked_for(chat: ChatPage) -> None:
    chat.ask("Once more, please")
    chat.ended()
    chat.browser.click("button", "Regenerate")
    chat.browser.wait_until(VERSION, "Version 2 of 2")
    assert chat.ended() == "You said: Once more, please"
    assert len(chat.texts) == 2


def test_the_chosen_model_is_asked(chat: ChatPage, fake: Fake) -> None:
    chat.browser.click("button", "Model:")
    chat.browser.click("button", "All models")
    chat.browser.sees("radio", "")
    chat.browser.type("gpt-oss-20b")
    chat.browser.click("radio", "GPT OSS 20B")
    chat.browser.misses("dialog", "Choose a model")
    chat.ask("Who are you?")
    chat.ended()
    assert fake.calls[-1]["path"].endswith("/ai/run/@cf/openai/gpt-oss-20b")


def test_the_picker_shows_a_list_that_escape_closes(chat: ChatPage) -> None:
    chat.browser.click("button", "Model:")
    chat.browser.click("button", "All models")
    chat.browser.wait_until(f"{LISTED} > 5")
    chat.browser.type("gpt-oss")
    chat.browser.wait_until(f"{LISTED} === 2")
    chat.browser.press("Escape")
    chat.browser.wait_until(f"{LISTED} > 5")
    chat.browser.press("Escape")
    chat.browser.misses("dialog", "Choose a model")


def test_instructions_reach_the_model(chat: ChatPage, fake: Fake) -> None:
    chat.ask("Hello")
    chat.ended()
    chat.browser.click("button", "More")
    chat.browser.click("button", "Instructions and model settings")
    chat.browser.click("textbox", "What should the model know")
    chat.browser.type("Answer in verse.")
    chat.browser.click("button", "Save")
    chat.browser.misses("textbox", "What should the model know")
    chat.ask("And now?")
    assert chat.ended() == "You said: And now?"
    assert fake.calls[-1]["body"]["messages"][0] == {"role": "system", "content": "Answer in verse."}


def choose(chat: ChatPage, option: str, title: str) -> None:
    """Choose from an item's options in the sidebar."""
    chat.browser.hover("link", title)
    chat.browser.click("button", f"Options for {title}")
    chat.browser.click("menuitem", option)


def test_a_conversation_is_renamed_deleted_and_brought_back(chat: ChatPage) -> None:
    chat.ask("Sailing")
    chat.ended()
    choose(chat, "Rename", "Sailing")
    chat.browser.holds("textbox", "Title of this")
    chat.browser.press("Control", "a")
    chat.browser.type("Boats")
    chat.browser.press("Enter")
    chat.browser.wait_until("document.title === 'Boats'")
    chat.goto()
    choose(chat, "Delete", "Boats")
    chat.browser.misses("link", "Boats")
    chat.browser.click("button", "Undo")
    chat.browser.sees("link", "Boats")
    chat.browser.reload()
    chat.browser.sees("link", "Boats")


def test_a_phone_with_tables_and_code_scrolls_down_only(
    window: Window, engine: Engine, server: Server
) -> None:
    conversation = server.person("alice").asked(EVERYTHING).conversation
    chat = window(engine, server, "alice", PHONE)
    chat.goto(f"/c/{conversation}/")
    assert chat.browser.evaluate(
        "[innerWidth, document.querySelectorAll('article table, article pre').length > 1]"
    ) == [PHONE[0], True]
    assert chat.browser.evaluate(WIDER) <= 0
    chat.write("Thank you")
    chat.browser.click("button", "Send")
    assert chat.ended() == "You said: Thank you"
    assert chat.browser.evaluate(WIDER) <= 0
    chat.browser.click("button", "Chats")
    assert chat.browser.evaluate(WIDER) <= 0
    chat.browser.click("link", "New chat")
    chat.browser.wait_until("location.pathname === '/'")
    assert chat.browser.evaluate(WIDER) <= 0


def test_one_signs_in_and_sends_without_javascript(without_javascript: ChatPage) -> None:
    chat = without_javascript
    chat.goto()
    sign_in(chat)
    chat.write("Do you need scripts?")
    chat.browser.click("button", "Send")
    chat.says("You said: Do you need scripts?")
    assert chat.path.startswith("/c/")
