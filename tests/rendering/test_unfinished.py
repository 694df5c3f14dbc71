"""The rendering of text that is still growing."""

import re

import pytest

from chat.rendering.blocks import Blocks
from chat.rendering.markdown import render

from .page import streamed


def shown(text: str) -> str:
    blocks = Blocks()
    blocks.feed(text)
    return "".join(str(patch[1]) for patch in blocks.flush())


@pytest.mark.parametrize(
    "mark",
    [
        "-",
        "--",
        "=",
        "1",
        "1.",
        "#",
        "##",
        "> ",
        "*",
        "```",
        "```py",
        "  - ",
        "- **",
        "1. `",
        "> *",
        "|",
        "| `",
        "| a | b",
        "| a | b |\n|--",
    ],
)
def test_ambiguous_last_line_is_held_back(mark):
    assert shown(f"A list:\n\n{mark}") == shown("A list:\n\n")


def test_a_first_dash_does_not_make_a_heading_of_the_line_above():
    assert shown("A list:\n-") == '<p dir="auto">A list:</p>'
    assert render("A list:\n-")[0].startswith("<h3")


@pytest.mark.parametrize("mark", ["|", "| ", "| `", "| **", "| ~~"])
def test_a_begun_row_is_no_paragraph_below_the_table(mark):
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert shown(table + mark) == shown(table)


def test_the_head_of_a_table_appears_as_one():
    assert shown("| a | b |\n|---|---|\n").startswith('<div class="table"')


def test_a_possible_table_is_held_back_for_300_characters():
    assert shown("|x| " + "is " * 90) == ""
    assert "|x| is" in shown("|x| " + "is " * 110)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("so **very bo", "so <strong>very bo</strong>"),
        ("so **very bold*", "so <strong>very bold</strong>"),
        ("call `pri", 'call <code dir="ltr">pri</code>'),
        ("see [the docs](http://exam", "see the docs"),
        ("a <b & **c < d", "a &lt;b &amp; <strong>c &lt; d</strong>"),
        ("so **very bold**", "so <strong>very bold</strong>"),
        ("so *it", "so <em>it</em>"),
        ("so *it*", "so <em>it</em>"),
        ("2*3 and 4 * 5", "2*3 and 4 * 5"),
    ],
)
def test_markup_that_has_begun_shows_as_what_it_will_be(text, html):
    assert shown(text) == f'<p dir="auto">{html}</p>'


@pytest.mark.parametrize("end", ["*Prices exclude", "See [the docs](http://exa", "Run `make", r"\*Prices"])
@pytest.mark.parametrize("before", ["", "Price list\n\n", "- "])
def test_what_is_open_below_a_tag_ends_as_it_is_typed(before, end):
    text = f"{before}<br>\n{end}"
    html = render(text, "m")
    assert re.sub("<.*?>", "", html[-1]).strip().endswith(end.replace("\\", ""))
    assert streamed(text, list(range(len(text) + 1))) == html


def test_the_end_of_a_text_is_taken_as_it_stands():
    blocks = Blocks()
    blocks.feed("so **very bo")
    blocks.flush()

    assert blocks.finish() == [(0, '<p dir="auto">so **very bo</p>')]
