"""The header of a code block: it stays in view, wraps long lines and saves the code as a file."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.input_methods import reach
from tests.e2e.seed import talk
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

WIDE = "total = " + " + ".join(f"part_{n}" for n in range(60))
LONG = "\n".join(f"line_{n} = {n}" for n in range(200))
CODE = f'{WIDE}\nprint("“né” 漢")\n'
TEXT = f"Look:\n\n```python\n{CODE}```\n\n- nested\n\n  ```../../evil.exe\n  x\n  ```\n"
WRAPS = "pre => pre.scrollWidth <= pre.clientWidth + 1"
# The distances of the block's header and its buttons from the page's own header.
GAPS = """figure => {
  const edge = document.querySelector('.topbar').getBoundingClientRect().bottom;
  return [...figure.children].filter(part => !part.matches('pre')).map(part =>
    Math.round(part.getBoundingClientRect().top - edge));
}"""


def block(page: Page) -> Locator:
    return page.locator("figure.code").first


def wrap(page: Page) -> Locator:
    return block(page).get_by_role("button", name="Wrap lines", exact=True)


def saved(page: Page, figure: Locator) -> tuple[str, str]:
    """The name and the text of the file that the button saves."""
    with page.expect_download() as started:
        figure.get_by_role("button", name="Download code", exact=True).click()
    return started.value.suggested_filename, Path(started.value.path()).read_text("utf-8")


def test_code_is_saved_exactly_under_a_name_of_ours(chat: ChatPage) -> None:
    chat.asked(f"Go on.\n{says_line(TEXT, size=9, delay=0.01)}")
    assert saved(chat.page, block(chat.page)) == ("code.py", CODE)
    assert saved(chat.page, chat.page.locator("figure.code").last) == ("code.txt", "x\n")
    chat.page.reload()
    assert saved(chat.page, block(chat.page)) == ("code.py", CODE)


def test_code_that_still_grows_is_saved_as_it_stands(chat: ChatPage) -> None:
    chat.ask(f"Go on.\n{says_line(f'```html{chr(10)}{LONG}', size=4, delay=0.05)}")
    expect(block(chat.page)).to_contain_text("line_5")
    name, text = saved(chat.page, block(chat.page))
    assert name == "index.html"
    assert text.startswith("line_0 = 0\nline_1")
    assert LONG.startswith(text.rstrip("\n"))
    assert len(text) < len(LONG)
    expect(chat.reply).to_have_attribute("data-status", "running")


def test_wrapping_holds_for_all_code_and_the_next_page(chat: ChatPage) -> None:
    chat.asked(f"Go on.\n{says_line(TEXT, size=9, delay=0.01)}")
    assert not block(chat.page).locator("pre").evaluate(WRAPS)
    reach(wrap(chat.page))
    chat.page.keyboard.press("Enter")
    wrapped = chat.page.get_by_role("button", name="Wrap lines", pressed=True)
    for _ in range(2):
        expect(wrapped).to_have_count(2)
        assert block(chat.page).locator("pre").evaluate(WRAPS)
        chat.page.reload()
    chat.ask(f"Again.\n{says_line(TEXT)}")
    expect(wrapped).to_have_count(4)
    wrap(chat.page).click()
    expect(wrapped).to_have_count(0)
    assert not block(chat.page).locator("pre").evaluate(WRAPS)
    chat.page.reload()
    expect(wrap(chat.page)).to_have_attribute("aria-pressed", "false")


def test_wrapping_while_code_grows_holds_to_its_end(chat: ChatPage) -> None:
    text = f"```python\n{WIDE}\n{LONG[:600]}\n```\n{'word ' * 60}"
    chat.ask(f"Go on.\n{says_line(text, size=8, delay=0.03)}")
    expect(block(chat.page)).to_contain_text("part_9")
    wrap(chat.page).click()
    expect(wrap(chat.page)).to_have_attribute("aria-pressed", "true")
    expect(block(chat.page).locator("span.n").first).to_be_attached()  # coloured: it is closed
    expect(wrap(chat.page)).to_be_focused()
    chat.ended()
    expect(wrap(chat.page)).to_have_attribute("aria-pressed", "true")
    assert block(chat.page).locator("pre").evaluate(WRAPS)


@pytest.mark.parametrize("width", [320, 1280])
def test_the_header_stays_in_view_while_code_scrolls(window: Window, server: Server, width: int) -> None:
    code = f"```python\n{WIDE}\n{LONG}\n{WIDE}\n```"
    address = talk(server, "alice", ["Show me.", f"{code}\n\nDone.", "Again", code])
    page = window(server, "alice", at=address, width=width)
    ChatPage(page).ready()  # what is loaded later goes to the end of the page once more
    block(page).evaluate("figure => scrollTo(0, scrollY + figure.getBoundingClientRect().top + 1500)")
    assert block(page).evaluate(GAPS) == [0, 0]
    expect(wrap(page)).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_wrapping_keeps_the_line_that_is_read(window: Window, server: Server) -> None:
    code = f"```text\n{WIDE}\n{WIDE}\n{LONG}\n```"
    page = window(server, "alice", at=talk(server, "alice", ["Show me.", f"{code}\n\nDone."]))
    block(page).evaluate("figure => scrollTo(0, scrollY + figure.getBoundingClientRect().top + 1500)")
    line = """() => {
      const text = document.querySelector('pre code').firstChild, range = document.createRange();
      const at = text.data.indexOf('line_80 ');
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect().top;
    }"""
    before = page.evaluate(line)
    for _ in range(2):
        wrap(page).click()
        assert abs(page.evaluate(line) - before) <= 2
