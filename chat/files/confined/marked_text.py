"""Runs of text in their fonts as Markdown: struck out, raised, lowered, with the signs of symbol fonts."""

import re
from typing import NamedTuple

from .symbol_fonts import FONTS, text_in

STRUCK = "~~"
RAISED = {"superscript": str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ"),
          "subscript": str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")}  # fmt: skip
EDGES = re.compile(r"(\s*)(.*?)(\s*)", re.DOTALL)
Piece = tuple[str, tuple[str, ...]]  # a text, and its marks


class Font(NamedTuple):
    """What is told of a font: its name if it is one of signs, and its marks from outside to inside."""

    name: str = ""
    marks: tuple[str, ...] = ()


def font_of(name: str, is_struck: bool, vertical: str) -> Font:
    """Return a font. `vertical`: "superscript", "subscript", or anything else."""
    name = name if name.strip().lower() in FONTS else ""
    return Font(name, (*([STRUCK] if is_struck else []), *([vertical] if vertical in RAISED else [])))


PLAIN = Font()
Rich = str | tuple[tuple[str, Font | None], ...]  # runs, those without a font in that of their cell


def in_font(text: Rich, font: Font) -> str:
    """Return the text of a cell with this font."""
    if isinstance(text, str):
        if font == PLAIN:
            return text
        text = ((text, font),)
    runs = ((each, own or font) for each, own in text)
    return joined([(text_in(each, of.name), of.marks) for each, of in runs])


def joined(pieces: list[Piece]) -> str:
    """Return texts in a row, each mark once around neighbours that share it."""
    merged: list[list[str | tuple[str, ...]]] = []
    for text, marks in pieces:
        if merged and (merged[-1][1] == marks or not text.strip()) and "\n" not in text:
            merged[-1][0] = str(merged[-1][0]) + text
        else:
            merged.append([text, marks])
    return "".join(_marked(str(text), tuple(marks)) for text, marks in merged)


def _marked(text: str, marks: tuple[str, ...]) -> str:
    for mark in reversed(marks):
        if mark in RAISED:
            text = raised(text, mark)
        elif found := EDGES.fullmatch(text):
            text = f"{found[1]}{mark}{found[2]}{mark}{found[3]}" if found[2] else text
    return text


def raised(text: str, mark: str) -> str:
    """Return a text as "superscript" or "subscript": in such digits, or between tags."""
    small = text.translate(RAISED[mark])
    if not text.strip() or all(ord(each) in RAISED[mark] for each in text.strip()):
        return small
    name = mark[:3]
    return f"<{name}>{text}</{name}>"
