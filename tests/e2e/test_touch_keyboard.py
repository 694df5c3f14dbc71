"""A keyboard on the screen that covers the page, as in Safari: Chromium makes the page smaller instead.

No tool here opens such a keyboard, so what Safari would say of it is put into `visualViewport`.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.sample_texts import essay
from tests.e2e.scrolling import stands
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

HEIGHT = 800  # of each window
SAY = """values => {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(visualViewport, name, { value, configurable: true });
  }
  visualViewport.dispatchEvent(new Event('resize'));
}"""
LOADED = "performance.getEntriesByType('resource').some(({ name }) => name.includes('/keyboard'))"
FOOT = "document.querySelector('#composer').getBoundingClientRect().bottom"
# The end of the newest words, and the beginning of what stands over the page's foot.
OVER = """() => [
  [...document.querySelectorAll('.reply [data-part=text] > *')].at(-1).getBoundingClientRect().bottom,
  document.querySelector('.composer-dock').getBoundingClientRect().top,
]"""


def say(page: Page, height: int, *, top: int = 0, scale: float = 1) -> None:
    page.evaluate(SAY, {"height": height, "offsetTop": top, "scale": scale})


def lifted(page: Page, pixels: int) -> None:
    """The module has come, and has done what it does."""
    expect(page.locator("html")).to_have_attribute("style", f"--covered: {pixels}px;")


def foot(page: Page) -> float:
    return float(page.evaluate(FOOT))


@pytest.fixture
def phone(window: Window, server: Server) -> ChatPage:
    chat = ChatPage.open(window, server, width=390, has_touch=True, is_mobile=True)
    chat.ask(says_line(essay(6_000), size=1_000))
    chat.ended()
    return chat


def test_the_box_and_the_newest_words_stay_above_the_keyboard(phone: ChatPage) -> None:
    page = phone.page
    assert not page.evaluate(LOADED)
    assert foot(page) > HEIGHT - 60
    say(page, 460)
    lifted(page, 340)
    assert 400 < foot(page) <= 460
    words, dock = page.evaluate(OVER)
    assert dock - 150 < words <= dock
    say(page, 460, top=120)
    lifted(page, 220)
    assert 520 < foot(page) <= 580
    phone.ask("And shortly?")
    expect(phone.questions).to_have_count(2)  # a tap is heard a moment later
    phone.ended()
    assert foot(page) <= 580
    expect(phone.reply).to_be_in_viewport()
    assert page.evaluate(OVER)[0] > 120
    say(page, HEIGHT)
    lifted(page, 0)
    assert foot(page) > HEIGHT - 60


def test_reading_further_up_is_not_disturbed(phone: ChatPage) -> None:
    page = phone.page
    # Not `scrollTo`: what the page does after a reply's end would undo a movement without a reader's event.
    page.mouse.move(195, 300)
    page.mouse.wheel(0, -3_000)
    top = stands(page)
    expect(phone.jump).to_be_visible()
    say(page, 460)
    lifted(page, 340)
    assert foot(page) <= 460
    assert page.evaluate("scrollY") == top


def test_zooming_in_lifts_nothing(phone: ChatPage) -> None:
    say(phone.page, 400, scale=2)
    lifted(phone.page, 0)
    assert foot(phone.page) > HEIGHT - 60


def test_without_a_touch_screen_none_of_it_is_loaded(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=390)
    say(chat.page, 460)
    chat.page.wait_for_timeout(200)  # it would come by then
    assert foot(chat.page) > HEIGHT - 60
    assert not chat.page.evaluate(LOADED)
