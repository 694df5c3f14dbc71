"""Signing in again without leaving the page, so that one send makes one message."""

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import Window, question, text_of, words
from tests.e2e.input_methods import KEYBOARD, MOUSE, MOUSE_ELSEWHERE, Way
from tests.e2e.seed import count_questions
from tests.e2e.sessions import end_sessions_of, sign_in
from tests.e2e.sidebar_page import Shell
from tests.support.people import PASSWORD
from tests.support.server import Server


def left(window: Window, server: Server, way: Way, who: str = "carol", *, noticed: bool = False) -> Shell:
    """A page with a conversation, whose session has just ended."""
    shell = Shell(window(server, "", **way.window), way)
    shell.page.goto("/")
    sign_in(shell.page, who)
    if way.name != "finger":
        expect(shell.chat.box).to_be_focused()  # the page's script is there
    shell.chat.asked("Hello")
    end_sessions_of(shell.page, server, noticed=noticed)
    return shell


def dialog(shell: Shell) -> Locator:
    return shell.page.get_by_role("dialog", name="Sign in again")


def enter(shell: Shell, password: str = PASSWORD) -> None:
    """Sign in by keyboard, without looking at the page."""
    expect(dialog(shell).get_by_label("Password")).to_be_focused()
    shell.page.keyboard.type(password)
    shell.page.keyboard.press("Enter")


@MOUSE_ELSEWHERE
def test_a_question_goes_out_once_after_signing_in_in_place(window: Window, server: Server, way: Way) -> None:
    shell = left(window, server, way)
    text = f"Still here with a {way.name} of {way.width}?"
    shell.chat.ask(text)
    form = dialog(shell)
    expect(form.get_by_label("Password")).to_be_focused()
    # It also opens over a draft, which is kept and not sent.
    expect(form).to_contain_text("Your text is saved, and anything in progress continues")
    expect(form.get_by_label("Password")).to_have_attribute("autocomplete", "current-password")
    expect(form.get_by_label("Name or email")).to_have_value("carol")
    expect(form.get_by_label("Name or email")).to_have_attribute("autocomplete", "username")
    shell.page.keyboard.type(PASSWORD)
    if way.name == "keyboard":
        shell.page.keyboard.press("Enter")
    else:
        shell.press(form.get_by_role("button", name="Sign in"))
    expect(form).to_be_hidden()
    assert shell.chat.ended() == f"You said: {text}"
    assert count_questions(server, text) == 1
    assert [text_of(one) for one in shell.chat.questions.all()] == ["Hello", text]
    if way.name != "finger":
        expect(shell.chat.box).to_be_focused()
    shell.chat.ask("And again")  # with the new token
    expect(shell.chat.replies).to_have_count(3)  # a finger's tap is heard a moment later
    assert shell.chat.ended() == "You said: And again"


def test_a_wrong_password_is_said_and_can_be_typed_again(window: Window, server: Server) -> None:
    shell = left(window, server, KEYBOARD)
    shell.chat.ask("Once more")
    form = dialog(shell)
    enter(shell, "not it")
    expect(form.get_by_role("alert")).to_have_text("Incorrect name or password.")
    expect(form.get_by_label("Password")).to_be_focused()
    enter(shell)  # over the wrong one, which is selected
    assert shell.chat.ended() == "You said: Once more"


def test_escape_gives_up_and_the_text_is_in_the_box(window: Window, server: Server) -> None:
    shell = left(window, server, KEYBOARD)
    shell.chat.ask("Perhaps later")
    expect(dialog(shell)).to_be_visible()
    shell.page.keyboard.press("Escape")
    sign_in(shell.page, "carol")
    expect(shell.chat.box).to_have_value("Perhaps later")
    expect(shell.chat.box).to_be_focused()
    shell.chat.ready().box.press("Enter")
    assert shell.chat.ended() == "You said: Perhaps later"
    assert count_questions(server, "Perhaps later") == 1


def test_an_open_page_is_hidden_once_its_session_has_ended(window: Window, server: Server) -> None:
    shell = left(window, server, KEYBOARD, noticed=True)
    expect(dialog(shell)).to_be_visible()
    expect(shell.chat.questions.first).not_to_be_visible()
    enter(shell)
    expect(shell.chat.questions.first).to_be_visible()
    assert shell.chat.asked("Here again") == "You said: Here again"


def test_somebody_else_who_signs_in_gets_a_page_of_their_own(window: Window, server: Server) -> None:
    shell = left(window, server, MOUSE)
    shell.chat.ask("Between us")
    form = dialog(shell)
    form.get_by_label("Name or email").fill("alice")
    form.get_by_label("Password").fill(PASSWORD)
    form.get_by_role("button", name="Sign in").click()
    expect(shell.page.get_by_text("This chat doesn’t exist.")).to_be_visible()
    assert count_questions(server, "Between us") == 0


def test_a_sign_in_in_another_tab_is_enough(window: Window, server: Server) -> None:
    shell = left(window, server, MOUSE)
    tab = shell.page.context.new_page()
    tab.goto("/")
    sign_in(tab, "carol")
    expect(tab.get_by_role("textbox", name="Your message")).to_be_visible()
    shell.chat.ask("I am back already")
    expect(shell.chat.replies).to_have_count(2)
    assert shell.chat.ended() == "You said: I am back already"
    expect(dialog(shell)).to_have_count(0)


def test_a_reply_that_was_being_followed_goes_on(window: Window, server: Server) -> None:
    shell = left(window, server, KEYBOARD)
    shell.chat.ask(question("words tokens=600 delay=0.02"))
    enter(shell)
    shell.chat.grown_to(30)
    end_sessions_of(shell.page, server)
    expect(dialog(shell)).to_be_visible()
    enter(shell)
    assert shell.chat.ended() == words(600)


def test_a_rename_asks_for_the_password_too_and_is_then_done(window: Window, server: Server) -> None:
    shell = left(window, server, KEYBOARD)
    shell.reach(shell.heading.get_by_role("button"))
    shell.page.keyboard.press("F2")
    shell.page.keyboard.press("Enter")
    shell.title_box.fill("Renamed later")
    shell.page.keyboard.press("Enter")
    expect(dialog(shell)).to_be_visible()
    enter(shell)
    expect(shell.heading.get_by_role("button", name="Renamed later")).to_be_focused()
    shell.page.reload()
    expect(shell.heading).to_have_text("Renamed later")


@pytest.mark.parametrize("instead", ["", "<title>Log in to this hotel’s network</title>"])
def test_a_server_that_is_away_is_said_in_the_dialog(window: Window, server: Server, instead: str) -> None:
    shell = left(window, server, KEYBOARD)
    shell.page.route(
        "**/accounts/login/", lambda route: route.fulfill(body=instead) if instead else route.abort()
    )
    shell.chat.ask("Is anybody there?")
    expect(dialog(shell)).to_be_visible()
    enter(shell)
    expect(dialog(shell).get_by_role("alert")).to_have_text("Can’t reach the server. Try again.")
    shell.page.unroute_all()
    shell.page.keyboard.press("Enter")
    assert shell.chat.ended() == "You said: Is anybody there?"


def test_a_sign_out_that_a_tab_does_not_hear_of_empties_it(window: Window, server: Server) -> None:
    """Its script starts too late, and asks the server. Hidden text could be read."""
    shell = Shell(window(server, "", own=True, **MOUSE.window), MOUSE)
    shell.page.context.add_init_script("BroadcastChannel.prototype.postMessage = () => {}")
    shell.page.goto("/")
    sign_in(shell.page, "carol")
    shell.chat.asked("A secret")
    tab = shell.page.context.new_page()
    tab.goto("/")
    name = shell.page.get_by_label("Name or email")
    with shell.chat.unaware():  # it would ask for changes while the other tab is on its way to the login page
        tab.locator("#sign-out").evaluate("form => form.requestSubmit()")
        tab.wait_for_url("**/login/**")
    shell.page.bring_to_front()
    expect(name).to_be_visible()
    assert "A secret" not in shell.page.content()
    expect(dialog(shell)).to_have_count(0)
