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
        # More cells than columns:
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
def test_no_pipe_in_code_or_equations_divides_and_cells_stay(row, expected):
    assert cells(f"{row}\n") == [expected]


@pytest.mark.parametrize(
    "between",
    [
        "### h",
        "***",
        "```\nx\n```",
        "```md\n| a |\n|---|\n```",
        "- i\n",
        "1. i\n",
        "> | a |\n> |---|\n",
        "<hr>\n",
    ],
)
def test_whatever_ends_a_table_ends_its_columns(between):
    wide = "| x | y |\n|---|---|\n| 1 | 2 |"
    text = f"| a |\n|---|\n{between}\n{wide}"
    html = render(text, "m")
    assert "<th>x</th><th>y</th>" in html[-1]
    assert streamed(text, list(range(len(text) + 1))) == html


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("Intro:\nName | Age\n---- | ---\nBob | 5", "Name"),
        ("**Title**\nName | Age\n:-: | :-:\nBob | 5", "Name"),
        ("- item\n  Name | Age\n  --|--\n  1 | 2", "Name"),
        ("> é\n> _Name_ | Age\n> --|--\n> 1 | 2", "<em>Name</em>"),
        ("<br>\né\nName | Age\n--|--\n1|2", "Name"),
    ],
)
def test_a_head_below_text_needs_no_pipe_at_its_edge(text, head):
    html = render(text, "m")
    assert re.search(f"<th[^>]*>{head}</th><th[^>]*>Age</th>", "".join(html))
    assert streamed(text, list(range(len(text) + 1))) == html


@pytest.mark.parametrize(
    "text", ["x\na | b\n--|--|--", "x\n- a | b\n--|--", "```\nx\na | b\n--|--\n```", "x\n# a | b\n--|--"]
)
def test_no_pipe_is_shown_that_was_not_typed(text):
    html = "".join(render(text))
    assert "<table" not in html
    assert re.sub("<.*?>", "", html).count("|") == text.count("|")


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
