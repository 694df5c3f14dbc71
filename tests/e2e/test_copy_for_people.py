"""*Copy message* for office programs and mail: the reply as it looks, and as plain text."""

import re
from typing import NamedTuple

import pytest
from playwright.sync_api import expect
from selectolax.lexbor import LexborHTMLParser

from tests.e2e.chat_page import MAY_COPY, ChatPage, Window
from tests.e2e.input_methods import MOUSE, MOUSE_ELSEWHERE, Way, named
from tests.e2e.seed import talk
from tests.support.server import Server

READ = """async () => {
  const [item] = await navigator.clipboard.read();
  const forms = ['text/html', 'text/plain'].filter((type) => item.types.includes(type));
  const text = async (type) => [type, await (await item.getType(type)).text()];
  return Object.fromEntries(await Promise.all(forms.map(text)));
}"""
LETTER = """# Notice to quit

Dear **Ms Berger**, see [the law](https://example.org/law) and https://example.org/more.

---

1. One
2. Two
   - under *it*
   - and ~~this~~

- [x] signed
- [ ] sent

| Item | Price |
|---|--:|
| Rent, `cold` | 545,923 |
| Heat\\|ing | 100.05 |

```python
def f():
    return "<b>"
```

> A word
> of warning
"""
PLAIN = """Notice to quit

Dear Ms Berger, see the law (https://example.org/law) and https://example.org/more.

1. One
2. Two
   • under it
   • and this

☑ signed
☐ sent

Item\tPrice
Rent, cold\t545,923
Heat|ing\t100.05

def f():
    return "<b>"

A word
of warning"""


class Copied(NamedTuple):
    html: str
    text: str

    @property
    def tree(self) -> LexborHTMLParser:
        return LexborHTMLParser(self.html)


def opened(window: Window, server: Server, reply: str, **options: object) -> ChatPage:
    page = window(server, "alice", at=talk(server, "alice", ["Write it.", reply]), **{**MAY_COPY, **options})
    return ChatPage(page)


def copied(chat: ChatPage, way: Way = MOUSE) -> Copied:
    way.press(named(chat.reply, "Copy message"))
    expect(chat.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    forms = chat.page.evaluate(READ)
    return Copied(forms["text/html"], forms["text/plain"])


@MOUSE_ELSEWHERE
def test_a_letter_is_copied_as_it_looks_and_without_marks(window: Window, server: Server, way: Way) -> None:
    found = copied(opened(window, server, LETTER, **way.window), way)
    assert found.text == PLAIN
    assert [heading.text() for heading in found.tree.css("h1")] == ["Notice to quit"]
    assert [link.attributes["href"] for link in found.tree.css("a")] == [
        "https://example.org/law",
        "https://example.org/more",
    ]
    assert [item.text() for item in found.tree.css("ol > li > ul > li")] == ["under it", "and this"]
    rows = [[cell.text() for cell in row.css("th, td")] for row in found.tree.css("tr")]
    assert rows == [["Item", "Price"], ["Rent, cold", "545,923"], ["Heat|ing", "100.05"]]
    [table] = found.tree.css("table")
    assert table.attributes["border"] == "1"
    assert found.tree.css("td")[1].attributes["align"] == "right"
    assert [code.text() for code in found.tree.css("pre")] == ['def f():\n    return "<b>"\n']
    assert not re.search("class=|style=|<button|<svg|<figure|color|tabindex|data-", found.html)


@MOUSE_ELSEWHERE
def test_a_table_has_a_copy_of_its_own(window: Window, server: Server, way: Way) -> None:
    chat = opened(window, server, LETTER, **way.window)
    chat.reply.locator(".table").focus()
    way.press(named(chat.reply, "Copy table"))
    expect(chat.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    forms = chat.page.evaluate(READ)
    assert forms["text/plain"] == "Item\tPrice\nRent, cold\t545,923\nHeat|ing\t100.05"
    found = LexborHTMLParser(forms["text/html"])
    assert [len(row.css("th, td")) for row in found.css("table tr")] == [2, 2, 2]
    assert not found.css("p, h1, button")


def test_a_letter_in_a_fence_wraps_and_is_copied_as_words(window: Window, server: Server) -> None:
    letter = "Dear Ms Berger,\n\n" + "I write about the flat" * 12 + ".\n\nYours, Alice\n"
    chat = opened(window, server, f"Here it is:\n\n```\n{letter}```\n\nAnd:\n\n```\nls -l\n```\n", width=390)
    letters = chat.reply.locator("figure.words pre")
    assert letters.evaluate("node => node.scrollWidth <= node.clientWidth")
    found = copied(chat)
    assert "```" not in found.text
    assert letter.strip() in found.text
    assert [code.text() for code in found.tree.css("pre")] == ["ls -l\n"]
    assert "<p>Dear Ms Berger,<br" in found.html


@pytest.mark.parametrize(
    ("tex", "html", "text"),
    [
        ("$a^2 + b_1$", "<i>a</i><sup>2</sup> + <i>b</i><sub>1</sub>", "$a^2 + b_1$"),
        ("$x \\le y$", "<i>x</i> ≤ <i>y</i>", "x ≤ y"),
        ("$\\frac{a}{b}$", "$\\frac{a}{b}$", "$\\frac{a}{b}$"),
        ("\n\n$$\\sqrt{2}$$\n\n", "$$\\sqrt{2}$$", "\n\n$$\\sqrt{2}$$\n\n"),
    ],
)
def test_an_equation_arrives_once(window: Window, server: Server, tex: str, html: str, text: str) -> None:
    found = copied(opened(window, server, f"So {tex} it is."))
    assert f"<span>{html}</span>" in found.html
    assert re.sub(" *\n *", "\n", f"So {text} it is.") == found.text
    assert not found.tree.css("math, annotation")


def test_right_to_left_text_says_so(window: Window, server: Server) -> None:
    found = copied(opened(window, server, "# שלום\n\n- אחד\n- two\n\nEnglish."))
    assert found.tree.css("h1")[0].attributes["dir"] == "rtl"
    assert found.tree.css("ul")[0].attributes["dir"] == "rtl"
    assert "dir" not in found.tree.css("p")[0].attributes
    assert found.text == "שלום\n\n• אחד\n• two\n\nEnglish."


def test_both_forms_are_copied_without_a_clipboard_api(window: Window, server: Server) -> None:
    chat = opened(window, server, "A **word**.", own=True)
    chat.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    chat.page.reload()
    chat.page.evaluate(
        "addEventListener('paste', (event) => { window.pasted ="
        " ['text/html', 'text/plain'].map((type) => event.clipboardData.getData(type)) })"
    )
    named(chat.reply, "Copy message").click()
    expect(chat.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    chat.box.press("ControlOrMeta+v")
    html, text = chat.page.evaluate("window.pasted")
    assert "<strong>word</strong>" in html
    assert text == "A word."


@MOUSE_ELSEWHERE
def test_the_markdown_is_in_the_menu(window: Window, server: Server, way: Way) -> None:
    chat = opened(window, server, LETTER, **way.window)
    way.press(named(chat.reply, "More actions"))
    item = chat.page.get_by_role("menuitem", name="Copy as Markdown")
    expect(item).to_be_visible()
    if way.name == "keyboard":
        chat.page.keyboard.press("c")  # leads to it
    way.press(item)
    expect(chat.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    assert chat.page.evaluate("navigator.clipboard.readText()") == LETTER
    expect(named(chat.reply, "More actions")).to_be_focused()


def test_a_selection_brings_no_colours(window: Window, server: Server) -> None:
    chat = opened(window, server, "One **two** three.\n\nFour.", color_scheme="dark")
    chat.page.evaluate(
        "() => { document.dispatchEvent(new Event('selectstart'));"
        " getSelection().selectAllChildren(document.querySelector('.reply [data-part=text]')) }"
    )
    chat.page.wait_for_function(
        "() => performance.getEntriesByType('resource').some("
        "({ name, responseEnd }) => responseEnd && name.includes('rich_text'))"
    )
    chat.page.keyboard.press("ControlOrMeta+c")
    forms = chat.page.evaluate(READ)
    assert forms["text/html"].endswith("<p>One <strong>two</strong> three.</p><p>Four.</p>")
    assert forms["text/plain"] == "One two three.\n\nFour."
