"""A label that two turns define leads each to its own definition."""

import re

import pytest

from chat.rendering.definitions import PARSER
from chat.transfer.markdown_export import Labels

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
