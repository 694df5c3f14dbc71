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


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("| P(A|B) = P(B|A)P(A)/P(B) | Bayes |", ["P(A|B) = P(B|A)P(A)/P(B)", "Bayes"]),
        ("| (a|b)+ | either |", ["(a|b)+", "either"]),
        ("| ls | grep x | counts |", ["ls", "grep x | counts"]),
        ("|a|b|c|", ["a", "b|c"]),
        ("x | y | z", ["x", "y | z"]),
        ("| 1|2 | 3|4 | 5 | 6 |", ["1|2", "3|4 | 5 | 6"]),
        ("| 1 | 2 | 3", ["1", "2 | 3"]),
        ("| 1 \\| 2 | 3 | `4|5` |", ["1 | 2", "3 | 4|5"]),
        ("| a || b |", ["a", "| b"]),
        ("| 1 | 2 |", ["1", "2"]),
        ("| 1 |", ["1"]),
    ],
)
def test_a_row_with_more_cells_than_columns_loses_none(row, expected):
    assert cells(f"{row}\n") == [expected]


def test_a_table_of_one_column_and_one_in_a_quotation_lose_none():
    assert "<td>1 | 2</td>" in render("| a |\n|---|\n| 1 | 2 |")[0]
    assert "<td>2 | 3</td>" in render("> | a | b |\n> |---|---|\n> | 1 | 2 | 3 |")[0]
    assert "<td>2 | 3</td>" in render("- x\n\n  | a | b |\n  |---|---|\n  | 1 | 2 | 3 |")[0]
    assert "a|b|c" in render("| a | b |\n|---|---|\n| 1 | 2 |\n\na|b|c")[1]


def test_a_pipe_in_code_divides_no_head_and_no_other_text():
    assert "<code" in render("| `a|b` | c |\n|---|---|\n| d | e |")[0].partition("</thead>")[0]
    assert render("`a|b` and `c`") == [
        '<p dir="auto"><code dir="ltr">a|b</code> and <code dir="ltr">c</code></p>'
    ]
    assert "a|b" in render("```\n`a|b`\n```")[0]
