"""The parts around a reply: its statistics, the header of long code, the ground behind the message box."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, question
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

LONG_CODE = "```python\n" + "\n".join(f"print({n})" for n in range(200)) + "\n```"
# Scroll so that the middle of the code stands at the top, and tell how far its header is from the page's.
HEADER = """() => {
  const code = document.querySelector('figure.code');
  const { top, height } = code.getBoundingClientRect();
  scrollBy({ top: top + height / 2, behavior: 'instant' });
  const bar = document.querySelector('.topbar').getBoundingClientRect().bottom;
  const topOf = (part) => code.querySelector(part).getBoundingClientRect().top;
  return ['figcaption', '.code-actions'].map((part) => topOf(part) - bar);
}"""
# The elements at the upper corners of the box, outside of its rounding.
CORNERS = """() => {
  const { left, right, top } = document.querySelector('#composer').getBoundingClientRect();
  return [[left + 1, top + 1], [right - 1, top + 1]].map(([x, y]) => {
    const dock = document.elementsFromPoint(x, y).find((el) => el.matches('.composer-dock'));
    const paddingTop = parseFloat(getComputedStyle(dock).paddingTop);
    return top - dock.getBoundingClientRect().top - paddingTop;
  });
}"""


def test_statistics_show_on_hover_and_on_request(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server)
    chat.ask(question("words tokens=40"))
    chat.ended()
    chat.ask("And then?")
    chat.ended()
    reply = chat.replies.first
    meta = reply.locator("[data-part=reply-meta]")
    shown = "meta => getComputedStyle(meta, '::details-content').contentVisibility"
    chat.box.hover()
    assert meta.evaluate(shown) == "hidden"
    assert "40 tokens" not in meta.inner_text()
    reply.hover()
    assert meta.evaluate(shown) == "visible"
    chat.box.hover()
    meta.locator("summary").press("Enter")
    expect(meta).to_have_attribute("open", "")
    assert "40 tokens" in meta.inner_text()


def test_a_reply_without_statistics_has_nothing_to_open(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server)
    chat.ask(question("words tokens=2000 delay=0.05"))
    foot = chat.reply.locator(".reply-meta")
    expect(foot).to_have_js_property("inert", True)
    chat.stop.click()
    chat.ended("stopped")
    expect(foot).to_have_js_property("inert", False)  # seconds


@pytest.mark.parametrize("width", [1280, 390])
def test_the_header_of_long_code_stays_in_view(window: Window, server: Server, width: int) -> None:
    chat = ChatPage.open(window, server, width=width)
    chat.ask(says_line(LONG_CODE))
    chat.ended()
    caption, buttons = chat.page.evaluate(HEADER)
    assert caption == pytest.approx(0, abs=1)
    assert buttons == pytest.approx(0, abs=1)


def test_the_ground_behind_the_corners_of_the_box_is_opaque(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server)
    assert chat.page.evaluate(CORNERS) == [0, 0]  # the gradient ends where the box begins
