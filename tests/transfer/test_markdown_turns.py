"""What one turn's Markdown opens swallows nothing of the turns after it, in CommonMark and in HTML.

A label that two turns define leads each to its own definition.
"""

import re

import pytest
from hypothesis import given, settings
from selectolax.lexbor import LexborHTMLParser, LexborNode

from chat.rendering.definitions import PARSER
from chat.transfer.markdown_export import Labels
from chat.transfer.markdown_turns import closed
from tests.rendering.documents import documents

NEXT = "\n\n## Ann · 3 May\n\nnext\n"


def above(text: str) -> list[str]:
    """The elements around the heading of the next turn, and those that it is formatted by."""
    page = LexborHTMLParser(PARSER.html(text + NEXT))
    heading = next((h for h in page.css("h2") if h.text() == "Ann · 3 May"), None)
    if heading is None:
        return ["lost"]
    names, node = [str(each.tag) for each in heading.css("*") if each.tag != "h2"], heading.parent
    while node is not None and node.tag != "body":
        names.append(str(node.tag))
        node = node.parent
    return [name for name in names if ":" not in name]  # a URL in brackets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run this:\n\n```sh\nmake all", "Run this:\n\n```sh\nmake all\n```"),
        ("~~~~\na\n~~~\n", "~~~~\na\n~~~\n~~~~"),
        ("````md\n```\na\n```", "````md\n```\na\n```\n````"),
        ("- a\n\n```\nb", "- a\n\n```\nb\n```"),
        ("<details>\n<summary>a</summary>\n\nb", "<details>\n<summary>a</summary>\n\nb\n\n</details>"),
        ("<div><table><tr><td>\n\na", "<div><table><tr><td>\n\na\n\n</td></tr></table></div>"),
        ("a <b>b <i>c</i>", "a <b>b <i>c</i>\n\n</b>"),
        ("- <u>a\n- b", "- <u>a\n- b\n\n</u>"),
        ("<!-- a\n\nb", "<!-- a\n\nb\n-->"),
        ("<pre>\n\na", "<pre>\n\na\n\n</pre>"),
        ("<script>\n\na", "&lt;script>\n\na"),
        ("<style>\n\na", "&lt;style>\n\na"),
        ("<textarea>\n\na", "&lt;textarea>\n\na"),
        ("<![CDATA[\n\na", "<![CDATA[\n\na\n]]>"),
        ("<?php\n\na", "<?php\n\na\n?>"),
        ('<div title="a\n\nb', '&lt;div title="a\n\nb'),
        ("a <script>b", "a &lt;script>b"),
        ("<div>\n<iframe>\n\n```\na", "<div>\n&lt;iframe>\n\n```\na\n```\n\n</div>"),
        ("<!-- a --> <div\n\nb", "<!-- a --> &lt;div\n\nb"),
        ("> <!-- a\n> b", "> &lt;!-- a\n> b"),
        ("- ]]>~~~\n````\n<!-- <pre>\n    ````\n", "`````\n- ]]>~~~\n````\n<!-- <pre>\n    ````\n\n`````"),
        ("<div>\n<!-- a\n\nb", "<div>\n&lt;!-- a\n\nb\n\n</div>"),
    ],
)
def test_a_turn_closes_what_it_opened(text, expected):
    assert above(text)  # it would swallow what follows
    assert closed(text) == expected
    assert above(expected) == []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "words",
            "- a\n  ```\n  b",
            "> <div>\n> a",
            "```\n<details>\n```",
            "`<b>` and List<T>",
            "a <!-- b",
        ),
        *("<details>\n\na\n\n</details>", "a<br>b <img src=x> <hr/>", "$$\nx\n$$", "costs $$ here", "# A"),
        *(
            "<p>a</p>",
            "<!-- a --> b",
            "<!-- a\n\nb -->",
            "- <mark>a\n- b",
            "\\<b>",
            "    <details>",
            "### A · B",
            "1. a\n   <details>\n   b\n\nc",
        ),
    ],
)
def test_a_turn_that_leaves_nothing_open_stays_as_typed(text):
    assert closed(text) == text
    assert above(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n\n</details>\n\nb", "a\n\n&lt;/details>\n\nb"),
        ("<details>a</details> b</details>", "<details>a</details> b&lt;/details>"),
        ("<summary>a</summary>" + "<b>" * 4, "<summary>a</summary><b><b><b><b>\n\n</b>\n</b>\n</b>\n</b>"),
        ("## You · 3 May\n\na", "\\## You · 3 May\n\na"),
        ("You · 3 May\n---\na", "You · 3 May\n\\---\na"),
        ("```\n## You · 3 May\n```", "```\n## You · 3 May\n```"),
        ("$$\nx = 1", "$$\nx = 1\n$$"),
        ("\\[\nx\n\ny", "\\[\nx\n\ny\n\\]"),
        ("\\begin{align}\nx", "\\begin{align}\nx\n\\end{align}"),
        ("```markdown\n```sh\na\n```\nb\n```\nc", "````markdown\n```sh\na\n```\nb\n````\nc"),
        ("```markdown\n```sh\na\n```\nb", "````markdown\n```sh\na\n```\nb\n````"),
    ],
)
def test_a_turn_ends_and_imitates_nothing_around_it(text, expected):
    assert closed(text) == expected
    assert above(f"<details>\n\n{closed(text)}\n\n</details>") == []


@settings(max_examples=300)
@given(documents)
def test_no_text_swallows_the_next_turn(text):
    text = text.replace("\ud800", "")
    assert above(closed(text)) == []
    assert above(f"<details>\n\n{closed(text)}\n\n</details>") == []


def test_very_many_open_elements_become_code() -> None:
    assert closed("<b>" * 1_000).startswith("```\n<b>")


def test_the_measure_sees_an_open_element() -> None:
    assert isinstance(LexborHTMLParser("<p>").body, LexborNode)
    assert above("<div>") == ["div"]
    assert above("```") == ["lost"]


FIRST = "Ä [1] and[^1] [a b].\n\n[1]: https://a.org\n\n[a b]: https://a.org\n\n[^1]: First\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("é [1]\n\n[1]: https://b.org", "é [1][1-2]\n\n[1-2]: https://b.org"),
        ("[1][]\n\n[1]: https://b.org", "[1][1-2]\n\n[1-2]: https://b.org"),
        ("![x][1] [*y*][1]\n\n[1]: <b.org> 'é'", "![x][1-2] [*y*][1-2]\n\n[1-2]: <b.org> 'é'"),
        ("[![x][1]][1]\n\n[1]: b.org", "[![x][1-2]][1-2]\n\n[1-2]: b.org"),
        ("[A\nB] [x][A  b]\n\n> [A b]: b.org", "[A\nB][a b-2] [x][a b-2]\n\n> [a b-2]: b.org"),
        ("x[^1]\n\n[^1]: Second [1]\n", "x[^1-2]\n\n[^1-2]: Second \\[1]\n"),
        ("[1] [2]\n\n[1]: b.org\n[1-2]: c.org", "[1][1-3] [2]\n\n[1-3]: b.org\n[1-2]: c.org"),
        ("`[1]`\n\n[2]: b.org\n\n```\n[1]: b.org\n```", None),
        ("[1] [2] [x](1) [^2]\n\n[2]: b.org\n\n[^2]: x", "\\[1] [2] [x](1) [^2]\n\n[2]: b.org\n\n[^2]: x"),
        ("[1] [3] `[1]` [x](1)", r"\[1] [3] `[1]` [x](1)"),
        ("[x][1] [1][] ![x][1] ![1]", r"\[x]\[1] \[1][] !\[x]\[1] !\[1]"),
        ("[*y* [1]][2]", r"[*y* \[1]][2]"),
        ("é[^1] and[^3]\n\n[^2]: x", "é\\[^1] and[^3]\n\n[^2]: x"),
        ("    [^1] [1]\n", None),
        ("arr[2] [x] a]", None),
    ],
)
def test_a_label_of_an_earlier_turn_is_another_one(text: str, expected: str | None) -> None:
    labels = Labels()
    assert labels.apart(FIRST) == FIRST
    assert labels.apart(text) == (expected or text)


def test_each_turn_leads_to_its_own_sources() -> None:
    labels = Labels()
    turns = [labels.apart(f"See [1].\n\n[1]: https://{name}.org\n") for name in "abc"]
    assert re.findall('href="(.*?)"', PARSER.html("\n\n".join(turns))) == [f"https://{n}.org" for n in "abc"]


def test_an_earlier_bare_number_does_not_lead_to_a_later_source() -> None:
    labels = Labels()
    turns = [labels.apart("See [1] and[^1]."), labels.apart("Now [1], x[^1].\n\n[1]: b.org\n\n[^1]: Note")]
    assert turns == ["See [1] and[^1].", "Now [1][1-1], x[^1-1].\n\n[1-1]: b.org\n\n[^1-1]: Note"]
    assert PARSER.html("\n\n".join(turns)).startswith("<p>See [1] and[^1].</p>")
