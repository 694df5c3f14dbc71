"""The source of a block for its preview: exactly as written, except for what would open a connection."""

import pytest

from chat.rendering.code_blocks import document, has_scripts, previewable_source
from chat.rendering.markdown import render

PAGE = "<style>p > b { color: red }</style>\n<p title='a&amp;b'>\u201cné\u201d &lt; 漢</p>\n\n<b>x</b>\n"


def source(markdown: str, number: int = 1) -> str | None:
    return previewable_source("".join(render(markdown)), number)


def test_the_source_of_a_block_is_what_the_reply_says() -> None:
    assert source(f"Look:\n\n```html\n{PAGE}```\n") == PAGE


def test_only_blocks_with_a_preview_are_counted() -> None:
    text = "```python\nx\n```\n\n```SVG\n<svg/>\n```\n\n> - ```html a\n>   <p>y\n>   ```\n\n```htmlx\n```\n"
    assert [source(text, number) for number in (1, 2, 3)] == ["<svg/>\n", "<p>y\n", None]


def test_a_block_cannot_end_its_code_early() -> None:
    text = (
        '</code></pre></figure><figure class="code previewable"><figcaption>html</figcaption><pre><code>x\n'
    )
    assert source(f"```html\n{text}```\n") == text
    assert source(f"```html\n{text}```\n", 2) is None


@pytest.mark.parametrize("name", ["link", "LINK", "iframe", "Frame", "fencedframe"])
@pytest.mark.parametrize(
    "after", [" rel=preconnect href=https://a.example>", "/src=//a.example>", "\n>", ">"]
)
def test_nothing_names_a_host_to_connect_to(name: str, after: str) -> None:
    assert document(f"<head><{name}{after}") == f"<!doctype html>\n<head><meta{after}"


def test_other_elements_stay_as_they_are() -> None:
    assert document("<linked></link><frameset>a link") == "<!doctype html>\n<linked></link><frameset>a link"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<script>x()</script>", True), ("<SCRIPT src=x>", True), ("<b onclick=x()>", True),
        ("<a href='javascript:x()'>", True), ("<p>on = off, a description</p>", False), ("<svg/>", False),
    ],
)  # fmt: skip
def test_a_script_in_the_source_is_noticed(text: str, found: bool) -> None:
    assert has_scripts(text) is found
