"""Code blocks as texts of their own."""

import pytest

from chat.rendering.block_texts import CodeBlock, blocks_in, document, may_have, number_of_same, with_block
from chat.rendering.markdown import render
from chat.rendering.message_html import MessageHtml

PAGE = "<style>p > b { color: red }</style>\n<p title='a&amp;b'>\u201cné\u201d &lt; 漢</p>\n\n<b>x</b>\n"
TWO = "Text x\n\n```python\nx\n```\n\n1. ~~~python\n   y\n   ~~~\n\n```python title=a\nx\n```\nEnd\n"


def blocks(markdown: str) -> list[CodeBlock]:
    return blocks_in(MessageHtml("".join(render(markdown))))


def run(code: str) -> str:
    return document(CodeBlock("html", 1, MessageHtml(code)), "/mermaid.js", runs=False)


def test_the_code_of_a_block_is_what_the_reply_says() -> None:
    assert [each.code for each in blocks(f"Look:\n\n```html\n{PAGE}```\n")] == [PAGE]


def test_blocks_are_counted_by_language() -> None:
    text = (
        "```python\nx\n```\n\n```SVG\n<svg/>\n```\n\n> - ```html a\n>   <p>y\n>   ```\n\n```python\nz\n```\n"
    )
    found = [(each.language, each.ordinal, each.is_runnable) for each in blocks(text)]
    assert found == [("python", 1, False), ("svg", 1, True), ("html", 1, True), ("python", 2, False)]


def test_a_block_of_markdown_holds_words_whose_lines_are_long() -> None:
    [letter, program] = blocks("```Markdown\n*Dear* Sir\n```\n\n```python\nx\n```\n")
    assert (letter.code, letter.holds_words, program.holds_words) == ("*Dear* Sir\n", True, False)


def test_a_block_cannot_end_its_code_early() -> None:
    text = '</code></pre></figure><figure class="code runnable"><figcaption>html</figcaption><pre><code>x\n'
    assert [each.code for each in blocks(f"```html\n{text}```\n")] == [text]


def test_the_same_block_has_the_language_and_ordinal() -> None:
    wanted = blocks(TWO)[2]
    assert number_of_same(blocks("```js\n```\n\n```python\n```\n\n```js\n```"), wanted) is None
    assert number_of_same(blocks("```js\na\n```\n\n" + TWO), wanted) == 4
    assert (may_have("```Python", "python"), may_have("``` x", "python"), may_have("x", "")) == (
        True,
        False,
        True,
    )


def test_other_code_takes_the_place_of_a_block() -> None:
    assert with_block(TWO, blocks(TWO), 3, "new") == TWO.replace("title=a\nx\n", "title=a\nnew\n")
    assert with_block(TWO, blocks(TWO), 1, "a\n~~~\n```\n") == TWO.replace(
        "```python\nx\n```\n\n1", "````python\na\n~~~\n```\n````\n\n1"
    )


@pytest.mark.parametrize("text", ["> ```python\n> x\n> y\n> ```\n", "    x\n", "```python\nx\n"])
def test_a_block_that_does_not_stand_there_as_it_is_stays(text: str) -> None:
    assert with_block(text, blocks(text), 1, "y") is None


@pytest.mark.parametrize("name", ["link", "LINK", "iframe", "Frame", "fencedframe"])
@pytest.mark.parametrize(
    "after", [" rel=preconnect href=https://a.example>", "/src=//a.example>", "\n>", ">"]
)
def test_nothing_names_a_host_to_connect_to(name: str, after: str) -> None:
    assert run(f"<head><{name}{after}") == f"<!doctype html>\n<head><meta{after}"


def test_other_elements_stay_as_they_are() -> None:
    assert run("<linked></link><frameset>a link") == "<!doctype html>\n<linked></link><frameset>a link"
