"""Questions: fenced code is drawn, and the text stays what was typed."""

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from chat.rendering.questions import question_html
from tests.rendering.attacks import SCRIPTS

CODE = "Look:\n```python title=x\nprint('<b>')\n```\nand *this*.\n~~~\nplain\n~~~"
TEXTS = [
    CODE,
    "no code <b>at</b> all & \"nothing\" 'else'",
    "```\nopen and never closed\n<script>alert(1)</script>",
    "````\n```\ninner\n```\n````\n",
    "``` a`b\nnot a fence\n```",
    "```js\n```\n```js\n```",
    "~~~\n```\n~~~\n~~~~ \nx\n~~~~",
    "  ```\nindented\n```\nfour\n```",
    "```html\n<img src=x onerror=alert(1)><script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\ncode\n```',
    "",
]


def parsed(text: str) -> LexborHTMLParser:
    return LexborHTMLParser(f"<div>{question_html(text)}</div>")


@pytest.mark.parametrize("text", [*TEXTS, *SCRIPTS, *(f"```\n{attack}\n```" for attack in SCRIPTS)])
def test_the_text_stays_what_was_typed_and_nothing_runs(text: str) -> None:
    tree = parsed(text)
    [root] = tree.css("body > div")
    assert root.text() == text.replace("\r\n", "\n").replace("\r", "\n")
    assert {node.tag for node in tree.css("body > div *")} <= {"figure", "figcaption", "pre", "code", "span"}
    names = {name for node in tree.css("body > div *") for name in node.attributes}
    assert names <= {"class", "tabindex", "dir"}


def test_closed_fences_are_drawn_with_their_language() -> None:
    tree = parsed(CODE)
    assert [caption.text() for caption in tree.css("figcaption")] == ["python", ""]
    assert [code.text() for code in tree.css("code")] == ["print('<b>')\n", "plain\n"]
    assert tree.css("code .s")  # coloured
    assert not parsed("```\nopen").css("figure")
    assert not parsed("```html\n<b>\n```").css(".previewable")  # a question is not shown as a page


def test_a_question_of_fences_takes_linear_time() -> None:
    begun = time.process_time()
    for text in ("```a\n" * 40_000, "```\n~~~\n" * 25_000, "`" * 200_000, "```\n" + "x" * 200_000):
        question_html(text)
    assert time.process_time() - begun < 5
