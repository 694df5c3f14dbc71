"""Cells of tables whose contents hold pipes: no word of a row is lost."""

import re
from html import unescape

import pytest

from chat.rendering.markdown import render

from .page import streamed


def cells(rows: str) -> list[list[str]]:
    """The words of each cell below the head, with the TeX of its equations, however the text arrives."""
    text = f"| a | b |\n|---|---|\n{rows}"
    html = render(text, "m")
    assert streamed(text, list(range(len(text) + 1))) == html
    body = re.sub("<semantics>.*?<annotation.*?>", "", html[0]).partition("<tbody>")[2]
    return [
        [unescape(re.sub("<.*?>", "", cell)) for cell in re.findall("<td.*?>(.*?)</td>", row)]
        for row in re.findall("<tr>(.*?)</tr>", body)
    ]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("| `a|b` | a or b |", ["a|b", "a or b"]),
        ("| `a||b` | `c` |", ["a||b", "c"]),
        ("| ``a|`b`` | c |", ["a|`b", "c"]),
        ("| `a\\|b` | c |", ["a|b", "c"]),
        ("| `a` | `b` |", ["a", "b"]),
        ("| `a | b |", ["`a", "b"]),
        ("`x | y` | z", ["x | y", "z"]),
        ("| ps `x|y` **`a|b`** | c |", ["ps x|y a|b", "c"]),
        ("| $|x|$ | $P(A|B)$ |", ["|x|", "P(A|B)"]),
        ("| $P(A\\|B)$ | $\\|x\\|$ |", ["P(A|B)", "\\|x\\|"]),
        ("| \\(|x|\\) | a \\| b |", ["|x|", "a | b"]),
    ],
)
def test_a_pipe_in_code_or_an_equation_divides_nothing(row, expected):
    assert cells(f"{row}\n") == [expected]


def test_a_pipe_in_code_divides_no_head_and_no_other_text():
    assert "<code" in render("| `a|b` | c |\n|---|---|\n| d | e |")[0].partition("</thead>")[0]
    assert render("`a|b` and `c`") == [
        '<p dir="auto"><code dir="ltr">a|b</code> and <code dir="ltr">c</code></p>'
    ]
    assert "a|b" in render("```\n`a|b`\n```")[0]
