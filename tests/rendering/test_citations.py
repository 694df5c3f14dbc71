"""Numbers in square brackets that lead to the sources below a reply, and those that are only text."""

import pytest

from chat.rendering.blocks import Blocks
from chat.rendering.markdown import render
from chat.rendering.message_html import HtmlStore, PageRenderer

LINK = '<a class="cite" href="#fn-m-source.{0}" rel="noopener noreferrer nofollow">[{0}]</a>'


def html(text: str, sources: int) -> str:
    return PageRenderer(HtmlStore()).html(text, "m", sources)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("In the shed [1].", [1]),
        ("In the shed [1][2], or [3] [1].", [1, 2, 3, 1]),
        ("- a [2]\n- b [3]", [2, 3]),
        ("| a [1] | b [2] |\n|---|---|\n| c [3] | d |", [1, 2, 3]),
        ("**bold [1]** and *[2]*", [1, 2]),
        ("[4] is not there, [0] and [01] and [1000] are none, nor [1, 2]", []),
        ("`[1]` and\n\n```\n[1]\n```\n\n$x[1]$", []),
        ("[1](https://example.org/) is a link of its own", []),
        ("[1]\n\n[1]: https://example.org/", []),
        ("[see [1]](https://example.org/)", [1]),  # as in CommonMark: no link stands in a link
        ("[words][1] and ![picture][1] and [1][]", []),
        ("\\[1\\]", []),
    ],
)
def test_a_number_of_a_source_leads_there(text: str, cited: list[int]) -> None:
    found = html(text, 3)
    for number in range(1, 5):
        assert found.count(LINK.format(number)) == cited.count(number), found
    assert found.count('class="cite"') == len(cited)


def test_without_sources_nothing_is_a_citation() -> None:
    assert html("In the shed [1].", 0) == "".join(render("In the shed [1].", "m"))


@pytest.mark.parametrize(
    "text", ["a [1][2] b\n\nc [3]\n\n- d [1]\n", "[1]\n[2]\n\n[x]: https://a.example/\n\n[x] [3]"]
)
def test_a_stream_ends_with_the_same_links(text: str) -> None:
    blocks, shown = Blocks("m"), []

    def apply(patches: list) -> None:
        for index, *rest in patches:
            if rest[0] is None:
                raise AssertionError("a text with brackets is parsed")
            del shown[index if not rest[0] else len(shown) :]
            if rest[0]:
                shown[index : index + 1] = rest

    blocks.set_sources(3)
    for character in text:
        blocks.feed(character)
        for index, *rest in blocks.flush():
            if rest[0] is not None:
                apply([(index, *rest)])
    apply(blocks.finish())
    assert "".join(shown) == html(text, 3)
