"""Another version of a reply, by the same model or another one."""

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.chat_page import ChatPage, Window, question, text_of, words
from tests.e2e.input_methods import ALL, MOUSE, Way, delete, named, walks
from tests.support.server import Server

MENU = "Regenerate with another model"


def replied(chat: ChatPage, scenario: str = "words tokens=60 delay=0.01") -> ChatPage:
    chat.ask(question(scenario))
    chat.ended()
    return chat


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return replied(ChatPage.open(window, server))


@ALL
def test_a_new_version_grows_in_the_place_of_the_old_one(window: Window, server: Server, way: Way) -> None:
    chat = replied(ChatPage.open(window, server, **way.window))
    old = chat.reply.get_attribute("data-message")
    way.press(named(chat.reply, "Regenerate"))
    expect(chat.reply).not_to_have_attribute("data-message", str(old))
    expect(chat.replies).to_have_count(1)
    assert chat.ended() == words(60)
    walks(chat.reply, 2, 2)
    way.press(named(chat.reply, "Previous version"))
    walks(chat.reply, 1, 2)
    expect(chat.reply).to_have_attribute("data-message", str(old))


def test_what_followed_gives_way_too_and_comes_back_with_the_walker(chat: ChatPage) -> None:
    chat.ask("And then?")
    expect(chat.replies).to_have_count(2)
    chat.ended()
    MOUSE.press(named(chat.replies.first, "Regenerate"))
    expect(chat.replies).to_have_count(1)
    chat.ended()
    MOUSE.press(named(chat.reply, "Previous version"))
    expect(chat.replies).to_have_count(2)
    assert text_of(chat.questions.last) == "And then?"


@ALL
def test_another_model_is_chosen_from_a_menu_and_its_name_stands_under_the_reply(
    window: Window, server: Server, way: Way
) -> None:
    chat = replied(ChatPage.open(window, server, **way.window))
    said = str(chat.reply.locator("[data-part=model]").text_content())
    way.press(named(chat.reply, MENU))
    menu = chat.page.get_by_role("menu", name=MENU)
    expect(menu.get_by_role("menuitem", name=said, exact=True)).to_be_focused()
    if way.name == "keyboard":
        chat.page.keyboard.press("ArrowDown")
        other = str(chat.page.evaluate("document.activeElement.textContent"))
        chat.page.keyboard.press("Enter")
    else:
        other = str(menu.get_by_role("menuitem").nth(3).text_content())
        menu.get_by_role("menuitem").nth(3).click()
    expect(menu).to_have_count(0)
    assert other != said
    expect(chat.reply.locator("[data-part=model]")).to_have_text(other)
    chat.ended()
    walks(chat.reply, 2, 2)
    chat.page.reload()
    expect(chat.reply.locator("[data-part=model]")).to_have_text(other)


def test_the_menu_stays_at_its_button_when_a_phone_is_turned(window: Window, server: Server) -> None:
    chat = replied(ChatPage.open(window, server, width=390))
    named(chat.reply, MENU).click()
    menu = chat.page.get_by_role("menu", name=MENU)
    expect(menu).to_be_visible()
    chat.page.set_viewport_size({"width": 800, "height": 390})
    chat.page.wait_for_function("innerWidth === 800")
    chat.page.evaluate("new Promise(requestAnimationFrame)")
    there, button = menu.bounding_box(), named(chat.reply, MENU).bounding_box()
    assert there
    assert button
    assert there["x"] == pytest.approx(button["x"], abs=1)


def test_the_menu_is_left_by_escape_and_searched_by_letters(chat: ChatPage) -> None:
    button = named(chat.reply, MENU)
    button.focus()
    chat.page.keyboard.press("Enter")
    menu = chat.page.get_by_role("menu")
    expect(button).to_have_attribute("aria-expanded", "true")
    chat.page.keyboard.press("End")
    expect(menu.get_by_role("menuitem").last).to_be_focused()
    chat.page.keyboard.press("q")
    assert str(chat.page.evaluate("document.activeElement.textContent")).startswith("Q")
    chat.page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(chat.reply.get_by_role("group")).to_have_count(0)


@pytest.mark.parametrize("width", [320, 1280])
def test_the_menu_stays_inside_the_window(window: Window, server: Server, width: int) -> None:
    chat = replied(ChatPage.open(window, server, width=width))
    MOUSE.press(named(chat.reply, MENU))
    box = chat.page.get_by_role("menu").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 800


def test_a_reply_that_cannot_be_regenerated_comes_back(chat: ChatPage) -> None:
    delete(chat)
    MOUSE.press(named(chat.reply, "Regenerate"))
    expect(chat.notice).not_to_be_empty()
    expect(chat.replies).to_have_count(1)
    assert text_of(chat.reply) == words(60)
    expect(named(chat.reply, "Regenerate")).to_be_focused()


def test_a_reply_of_a_busy_conversation_comes_back_and_the_other_one_is_followed(chat: ChatPage) -> None:
    tab = chat.another_tab()
    with tab.unaware():
        chat.ask(question("words tokens=2000 delay=0.02"))
        chat.grown_to(30)
        MOUSE.press(named(tab.replies.first, "Regenerate"))
        expect(tab.notice).to_contain_text("Another reply is still being written")
        expect(tab.replies.first).to_be_visible()
        assert text_of(tab.replies.first) == words(60)
    expect(tab.replies).to_have_count(2)
    tab.stop.click()
    assert chat.ended("stopped") == tab.ended("stopped")


def test_a_failed_reply_is_tried_again_as_its_next_version(chat: ChatPage) -> None:
    chat.ask(question("flaky fails=1 code=5007 key=regenerate"))
    chat.ended("failed")
    chat.page.get_by_role("button", name="Try again").locator("visible=true").click()
    assert chat.ended() == words(5)
    walks(chat.reply, 2, 2)
    expect(chat.questions).to_have_count(2)


def held_outcome(chat: ChatPage, key: str) -> list[Route]:
    """A reply has failed, and what can be done about it is still on its way."""
    held: list[Route] = []
    chat.page.route("**/outcome/", lambda route: held.append(route))
    chat.ask(question(f"flaky fails=1 code=5007 key={key}"))
    chat.ended("failed")
    expect(chat.send).to_be_visible()
    while not held:
        chat.page.wait_for_timeout(50)
    return held


def test_what_is_shown_to_be_pressed_does_not_move_away_under_the_press(chat: ChatPage) -> None:
    chat.page.evaluate(
        "AbortSignal.timeout = () => new AbortController().signal"
    )  # however busy this machine
    held = held_outcome(chat, "moves")
    again = chat.reply.get_by_role("button", name="Try again")
    expect(again).to_be_hidden()
    held.pop().continue_()
    again.hover()
    chat.page.mouse.down()
    expect(named(chat.reply, "Another model")).to_be_visible()
    chat.page.mouse.up()
    assert chat.ended() == words(5)


def test_without_the_words_that_belong_beside_it_a_failed_reply_can_be_tried_again(chat: ChatPage) -> None:
    held = held_outcome(chat, "alone")
    again = chat.reply.get_by_role("button", name="Try again")
    expect(again).to_be_visible()  # it waits for some seconds only
    held.pop().continue_()  # and what comes later is left out
    again.click()
    assert chat.ended() == words(5)


def test_the_row_takes_the_same_room_while_a_reply_is_written_and_after(chat: ChatPage) -> None:
    chat.ask(question("words tokens=150 delay=0.03"))
    chat.grown_to(20)
    foot = chat.reply.locator(".foot")
    during = foot.bounding_box()
    expect(foot).to_be_hidden()
    chat.ended()
    expect(foot).to_be_visible()
    after = foot.bounding_box()
    assert during
    assert after
    assert during["height"] == after["height"]
