"""Open ends of growing texts, and fences inside fences."""

import re
from html import unescape

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


def blocks(text: str) -> list[str]:
    """The words of each block, however the text arrives, and the language of a block of code before them."""
    html = render(text, "m")
    assert streamed(text, list(range(len(text) + 1))) == html
    named = [block.replace("</figcaption>", ": ") for block in html]
    return [unescape(re.sub("<.*?>", "", block)).strip() for block in named]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "```markdown\n# A\n\n```bash\nb\n```\n\n## C\n```\nDone.",
            ["markdown: # A\n\n```bash\nb\n```\n\n## C", "Done."],
        ),
        ("```md\n```py\na\n```\n```js\nb\n```\n```\nc", ["md: ```py\na\n```\n```js\nb\n```", "c"]),
        ("````markdown\n```py\na\n```\n````\nb", ["markdown: ```py\na\n```", "b"]),
        ("~~~markdown\n```\na\n```\n~~~py\nb\n~~~\n~~~\nc", ["markdown: ```\na\n```\n~~~py\nb\n~~~", "c"]),
        ("```markdown\n````py\n```\na\n````\n```\nb", ["markdown: ````py\n```\na\n````", "b"]),
        (
            "```markdown\n```markdown\n```py\na\n```\n```\n```\nb",
            ["markdown: ```markdown\n```py\na\n```\n```", "b"],
        ),
        (
            "```markdown\nInstall:\n\n```\na\n```\n\n## B\n```\nc",
            ["markdown: Install:\n\n```\na\n```\n\n## B", "c"],
        ),
        (
            "```markdown\n1. a\n   ```py\n   b\n   ```\n```\nc",
            ["markdown: 1. a\n   ```py\n   b\n   ```", "c"],
        ),
        ("- ```markdown\n  ```py\n  a\n  ```\n  ```\n- b", ["markdown: ```py\na\n```\nb"]),
        ("> ```markdown\n> ```py\n> a\n> ```\n> ```\n> b", ["markdown: ```py\na\n```\nb"]),
        ("> ```markdown\n> a\n\n```py\nb\n```", ["markdown: a", "py: b"]),
        ("```markdown\n# A\n```\n\nb\n\n```py\nc\n```", ["markdown: # A", "b", "py: c"]),
        ("```markdown\n# A\n\n```\n\nb", ["markdown: # A", "b"]),
        ("```markdown\n```py\na\n```\n# B", ["markdown: ```py\na\n```\n# B"]),
        ("```text\n```py\na\n```\nb", ["text: ```py\na", "b"]),
        ("a ```markdown` b\n```py\nc\n```", ["a ```markdown` b", "py: c"]),
    ],
)
def test_a_fence_of_markdown_holds_the_fences_in_it(text, expected):
    assert blocks(text) == expected


def test_an_open_fence_of_markdown_grows_by_what_is_added():
    growing = Blocks()
    growing.feed("```markdown\n```py\na\n```\n## B\n")
    growing.flush()
    growing.feed("words\n")

    assert growing.flush() == [(0, None, "words\n")]
    growing.feed("```js\n")
    growing.flush()
    growing.feed("b\n```\n```\n\nend")
    assert len(growing.flush()) == 2


@pytest.mark.parametrize(
    "text",
    [
        "```math\nx_1\n\n= 2\n```",
        "~~~math\nx_1\n~~~",
        "> ```math\n> x_1\n> ```",
        "- ```math\n  x_1\n  ```",
        "1. a\n\n   ```math\n   x_1\n   ```\n",
        "a\n```math\nx_1\n```\nb",
        "a $`x_1`$ b, ($`x_1 * y * z`$)",
        "| a |\n|---|\n| $`|x_1|`$ |",
    ],
)
def test_fences_and_backticks_hold_equations(text):
    html = "".join(render(text, "m"))

    assert streamed(text, list(range(len(text) + 1))) == render(text, "m")
    assert "<math" in html
    assert "`" not in re.sub("<annotation.*?</annotation>", "", html)
    assert "&gt;" not in html


@pytest.mark.parametrize(
    "text",
    [
        "```math\n\n```",
        "```math\nx",
        "```text\n```math\nx\n```",
        "````md\n```math\nx\n```\n````",
        "``$`x`$``",
        "a$`x`$",
    ],
)
def test_other_fences_stay_code(text):
    blocks(text)
    assert "<math" not in "".join(render(text))
