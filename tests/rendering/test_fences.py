"""Fences inside a fence of Markdown, and fences of equations: whole, and one character at a time."""

import re
from html import unescape

import pytest

from chat.rendering.blocks import Blocks
from chat.rendering.markdown import render

from .page import streamed


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
