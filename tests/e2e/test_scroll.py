"""A reader at the end of the page stays there, and no other reader is moved."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import ChatPage, Window, question
from tests.e2e.page_observers import stands
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

DESK, PHONE = 1280, 390
GAP = "document.documentElement.scrollHeight - innerHeight - scrollY"
LONG = question("words tokens=40000 at_once=1000 delay=0.003")  # two minutes, for busy machines


@pytest.fixture
def chat(request: pytest.FixtureRequest, window: Window, server: Server) -> ChatPage:
    """Open a chat on a wide page, or on a phone if the test says so."""
    width = getattr(request, "param", DESK)
    phone = {"has_touch": True, "is_mobile": True} if width == PHONE else {}
    return ChatPage.open(window, server, width=width, **phone)


def grow(chat: ChatPage, more: int = 1_500) -> None:
    chat.grown_to(len(chat.text) + more)


def is_followed(chat: ChatPage) -> None:
    """Check that the page stays at the end of a reply that grows, and stop it."""
    grow(chat)
    chat.page.wait_for_function(f"() => {GAP} < 120")
    expect(chat.jump).to_be_hidden()
    chat.stop.click()
    chat.ended("stopped")


def wheel(page: Page) -> None:
    page.mouse.move(350, 300)
    page.mouse.wheel(0, -600)


def key(name: str) -> Callable[[Page], None]:
    def press(page: Page) -> None:
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(name)

    return press


def swipe(page: Page) -> None:
    touch = page.context.new_cdp_session(page)
    touch.send("Input.synthesizeScrollGesture", {"x": 200, "y": 300, "yDistance": 500, "speed": 3000})


@pytest.mark.parametrize(
    ("chat", "up"),
    [(DESK, wheel), (DESK, key("PageUp")), (DESK, key("Home")), (PHONE, swipe)],
    ids=["wheel", "PageUp", "Home", "swipe"],
    indirect=["chat"],
)
def test_scrolling_up_holds_until_the_jump_to_the_end(chat: ChatPage, up: Callable[[Page], None]) -> None:
    chat.ask(LONG)
    chat.grown_to(9_000)
    up(chat.page)
    expect(chat.jump).to_be_visible()
    place = stands(chat.page)
    grow(chat)
    assert chat.page.evaluate("scrollY") == place
    chat.jump.click()
    expect(chat.jump).to_be_hidden()
    is_followed(chat)


def test_scrolling_down_to_the_end_takes_hold_again(chat: ChatPage) -> None:
    chat.ask(LONG)
    chat.grown_to(9_000)
    wheel(chat.page)
    expect(chat.jump).to_be_visible()
    while chat.jump.is_visible():
        chat.page.mouse.wheel(0, 2_000)
        chat.page.wait_for_timeout(50)
    is_followed(chat)


def test_inner_scrolling_goes_first_and_keeps_the_end(chat: ChatPage) -> None:
    chat.ask(LONG)
    chat.grown_to(9_000)
    chat.box.fill("\n".join(str(n) for n in range(60)))
    box = chat.box.bounding_box()
    assert box
    chat.page.mouse.move(box["x"] + 20, box["y"] + 20)
    chat.page.mouse.wheel(0, -100)
    is_followed(chat)


def test_zooming_and_sideways_scrolling_are_no_way_up(chat: ChatPage) -> None:
    chat.ask(LONG)
    chat.grown_to(9_000)
    for how in ({"deltaY": -300, "ctrlKey": True}, {"deltaY": -10, "deltaX": -80}):
        chat.page.dispatch_event("article.reply:last-of-type", "wheel", {**how, "bubbles": True})
    is_followed(chat)


@pytest.mark.parametrize("chat", [DESK, PHONE], indirect=True)
def test_a_new_question_is_shown_near_the_top(chat: ChatPage) -> None:
    chat.asked(f"Go on.\n{says_line('First. ' * 700)}")
    chat.ask(question("words tokens=60 delay=0.02"))
    expect(chat.questions).to_have_count(2)  # the old one's top is above the page
    top = "[...document.querySelectorAll('.question')].at(-1).getBoundingClientRect().top"
    chat.page.wait_for_function(f"() => {top} < 160")
    before = chat.page.evaluate(top)
    assert before >= 0
    chat.ended()
    assert chat.page.evaluate(top) == before
    assert chat.page.evaluate(GAP) < 2
