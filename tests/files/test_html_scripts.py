"""Raised and lowered characters of web pages, which a style alone tells from the digits beside them."""

import pytest

from chat.files.confined.documents import cleaned
from chat.files.confined.web_page import html_text

PAGES = [
    ("About 10<span style='vertical-align:super; font-size: 70%'>6</span> cells", "About 10⁶ cells"),
    (
        "<style>.c2{vertical-align:super}.c3{vertical-align:sub}</style>10<span class=c2>6</span> "
        "H<i class=c3>2</i>O 120<a class=c2>[1]</a>",
        "10⁶ H₂O 120[1]",
    ),
    ("<style>.a{vertical-align:super} b.a{vertical-align:baseline}</style>4<b class=a>2</b>", "42"),
    ("<style>sup,.a{vertical-align:super}</style>4<sup>2</sup> 5<sup><b class=a>2</b></sup>", "4² 5²"),
    (
        "<style>.a{vertical-align:super}</style>4<span class=a>2</span> 5<b class=a><sup>1,2</sup></b> "
        "6<b class=a style=vertical-align:top>7</b>",
        "4² 5^(1,2) 67",
    ),
    (
        "<table><tr><td style=vertical-align:super>4<td style=vertical-align:sub>x</table>",
        "| 4 | x |\n| --- | --- |",
    ),
]
STYLES = [
    ("vertical-align:text-top;font-size:.6em", "⁶"),
    ("font-size:9px; vertical-align: 4px", "⁶"),
    ("vertical-align:30%", "⁶"),
    ("vertical-align:-0.25em", "₆"),
    ("position:relative;top:-.5em;font-size:70%", "⁶"),
    ("font-size: 70%; position: relative; bottom: -.25em", "₆"),
    ("position:relative;top:-3.0pt;mso-text-raise:3.0pt", "⁶"),
    ("mso-text-raise:-3.0pt", "₆"),
    ("vertical-align:top", "6"),
    ("vertical-align:1px", "6"),
    ("vertical-align:middle;font-size:9px", "6"),
    ("position:relative;top:-1px", "6"),
    ("position:absolute;top:-9px;font-size:9px", "6"),
]


@pytest.mark.parametrize(("page", "wanted"), PAGES)
def test_raised_text_keeps_its_place(page: str, wanted: str) -> None:
    assert cleaned(html_text(page)) == wanted


@pytest.mark.parametrize(("style", "six"), STYLES)
def test_styles_that_raise_or_lower(style: str, six: str) -> None:
    assert cleaned(html_text(f"<p>10<span style='{style}'>6</span>")) == f"10{six}"
    assert cleaned(html_text(f"<style>.a{{{style}}}</style><p>10<b class=a>6</b>")) == f"10{six}"
