"""The readings of small inputs, which are the lines of `readings.tsv`."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from chat.files.confined.documents import cleaned
from chat.files.confined.fonts import sign_of, text_in
from chat.files.confined.html_blocks import numeral
from chat.files.confined.mail_text import header_text
from chat.files.confined.number_codes import shown
from chat.files.confined.web_page import html_text
from chat.files.confined.word_fields import field_text
from chat.files.uploads import clean
from chat.limits import MAX_FILE_NAME_CHARS

READINGS = [
    json.loads(f'["{line}"]'.replace("\t", '","'))
    for line in Path(__file__).with_name("readings.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def text(page: str, address: str = "") -> str:
    return cleaned(html_text(page, address))


def styled(style: str) -> str:
    """Return a digit in this style, which an element or a style sheet has."""
    found = text(f"<p>10<span style='{style}'>6</span>")
    assert text(f"<style>.a{{{style}}}</style><p>10<b class=a>6</b>") == found
    return found.removeprefix("10")


KINDS: dict[str, Callable[..., str]] = {
    "page": text,
    "hidden": lambda page: " ".join(text(f"<p>a</p>{page}<p>b</p>").split()),
    "style": styled,
    "mathml": lambda inside: text(f"<math>{inside}</math>"),
    "numeral": lambda number, form: numeral(int(number), form),
    "header": header_text,  # of mail
    "field": field_text,  # of Word, without a result: signs, and formulas of older versions
    "font": text_in,
    "sign": lambda code, font: sign_of(int(code), font),
    "number": lambda number, code: shown(json.loads(number), code),
    "name": lambda name: clean(name, "image/jpeg"),
}


@pytest.mark.parametrize("reading", READINGS, ids=[f"{kind}-{at}" for at, (kind, *_) in enumerate(READINGS)])
def test_a_reading(reading: list[str]) -> None:
    kind, *given, wanted = reading
    assert KINDS[kind](*given) == wanted


def test_a_font_for_signs_alone_leaves_letters() -> None:
    assert text_in("\uf0e0 à la", "Wingdings", private_only=True) == "→ à la"


def test_dates_count_from_1904_in_some_workbooks() -> None:
    assert shown(44624, "yyyy-mm-dd", is_1904=True) == "2026-03-05"


@pytest.mark.parametrize("number", [-1, 1e9, 2_958_466])
def test_a_number_that_is_no_date(number: float) -> None:
    assert shown(number, "yyyy-mm-dd") == str(number)


def test_a_long_name_is_cut_before_its_extension() -> None:
    found = clean("x" * 5_000 + ".jpg", "image/png")
    assert (len(found), found[-5:]) == (MAX_FILE_NAME_CHARS, "x.png")


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
