"""The text of web pages beside `readings.tsv`: links, equations, pages that are deep or damaged."""

import random

import pytest

from tests.files.test_readings import READINGS, text


def test_relative_links_are_those_of_the_page() -> None:
    assert text("<a href='b?c'>x</a>", "https://e.org/a/") == "x (https://e.org/a/b?c)"


def test_an_equation_keeps_what_its_author_wrote() -> None:
    assert text("<math display=block alttext='{\\displaystyle x^2}'><mi>y</mi></math>") == "$$x^2$$"
    katex = "<span><math><mi>y</mi></math><span aria-hidden=true>y</span></span>"
    assert text(f"a {katex} b <math></math>c") == "a $y$ b c"


@pytest.mark.parametrize(
    "tag", ["div", "b", "ul><li", "table><tr><td", "blockquote", "math><mrow", "q><del><sup"]
)
def test_deep_elements_keep_their_text(tag: str) -> None:
    assert "deep" in text(f"<{tag}>" * 2_000 + "deep")


@pytest.mark.parametrize("seed", range(30))
def test_damaged_pages_are_read(seed: int) -> None:
    chance = random.Random(seed)
    pages = [given[0] for kind, *given in READINGS if kind in ("page", "hidden")]
    page = list("".join(chance.sample(pages, 5)))
    for _ in range(20):
        page[chance.randrange(len(page))] = chance.choice("<>/\"'= \n&a\0")
    assert isinstance(text("".join(page) + "<p>end"), str)
