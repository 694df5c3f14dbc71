"""Equations in replies: drawn while they stream, copied as TeX, scrolled in a box of their own."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

WIDE = "\\[\n" + " + ".join(f"x_{{{n}}}^2" for n in range(60)) + " = 0\n\\]"
TEXT = (
    "The area is $a_1 * b_1$ for $5 each:\nsee below.\n\n"
    "\\[\nA\n=\n\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}\n\\]\n\n"
    f"{WIDE}\n\nand \\(x \\le y\\).\n"
)
SELECT = """() => { const range = document.createRange();
  range.selectNodeContents([...document.querySelectorAll('.reply [data-part=text]')].at(-1));
  document.dispatchEvent(new Event('selectstart'));
  getSelection().removeAllRanges(); getSelection().addRange(range); }"""
SHOWN = "() => [...document.querySelectorAll('.reply [data-part=text]')].at(-1).innerHTML"
LOADED = """() => performance.getEntriesByType('resource').some(
  ({ name, responseEnd }) => responseEnd && name.includes('copy_tex'))"""
MAY = {"permissions": ["clipboard-read", "clipboard-write"]}


def test_a_streamed_equation_is_the_one_of_a_reload(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server)
    chat.ask(f"Go on.\n{says_line(TEXT, size=3, delay=0.005)}")
    chat.ended()
    expect(chat.reply.locator("math")).to_have_count(4)
    expect(chat.reply).to_contain_text("for $5 each")
    streamed = chat.page.evaluate(SHOWN)
    chat.page.reload()
    assert chat.page.evaluate(SHOWN) == streamed


def test_a_selection_is_copied_as_tex(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, **MAY)
    chat.ask(f"Go on.\n{says_line(TEXT)}")
    chat.ended()
    chat.page.evaluate(SELECT)
    chat.page.wait_for_function(LOADED)
    chat.page.keyboard.press("ControlOrMeta+c")
    copied = chat.page.evaluate("navigator.clipboard.readText()")
    assert "The area is $a_1 * b_1$ for $5 each:\nsee below." in copied
    assert "$$A\n=\n\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}$$" in copied
    assert "and $x \\le y$." in copied


@pytest.mark.parametrize("width", [320, 1280])
def test_a_wide_equation_scrolls_in_its_own_box(window: Window, server: Server, width: int) -> None:
    chat = ChatPage.open(window, server, width=width)
    chat.ask(f"Go on.\n{says_line(TEXT)}")
    chat.ended()
    box = chat.reply.locator(".equation").nth(1)
    assert box.evaluate("(box) => box.scrollWidth > box.clientWidth")
    assert chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box.focus()
    chat.page.keyboard.press("End")
    chat.page.keyboard.press("ArrowRight")
    expect(box).to_be_focused()
    chat.page.wait_for_function("(box) => box.scrollLeft > 0", arg=box.element_handle())
