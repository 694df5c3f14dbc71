"""Superscripts and subscripts of a page of a PDF, which only size and baseline tell from other characters."""

import ctypes

from .html_elements import SCRIPTS, script
from .pdf_text import NO_BREAK, Box, PageText

# In heights of the character before it: the height of a raised or lowered one, and its distance from that.
MIN_SIZE, MAX_SIZE, MAX_GAP = 0.4, 0.85, 0.4
RISES = {"sup": (0.15, 0.6), "sub": (-0.5, -0.06)}  # of the baseline, likewise


def write_scripts(text: PageText) -> None:
    """Write the digits of exponents, notes and indices as such, in the page's characters."""
    base: tuple[Box, int] | None = None  # what is neither raised nor lowered, and its number
    found: list[int] = []
    name, right = "", 0.0
    for number, character in enumerate([*text.characters, "\n"]):
        is_space = character.isspace()
        box = None if is_space else text.box(number)
        told = _told(text, number, box, base, right) if box and base else ""
        if found and told != name:
            _write(text, found, name)
            found = []
        if told:
            name = told
            found.append(number)
        elif box:
            base, name = (box, number), ""
        elif character in "\r\n" or (name and character != NO_BREAK):  # behind a raised one
            base = None
        right = box.right if box else right


def _told(text: PageText, number: int, box: Box, base: tuple[Box, int], right: float) -> str:
    """Return "sup", "sub" or "" for a character. `right`: where the one before it ends."""
    height = base[0].height
    if not MIN_SIZE * height <= box.height <= MAX_SIZE * height or abs(box.left - right) > MAX_GAP * height:
        return ""
    rise = (_baseline(text, number) - _baseline(text, base[1])) / height
    return next((name for name, (least, most) in RISES.items() if least <= rise <= most), "")


def _baseline(text: PageText, number: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    text.raw.FPDFText_GetCharOrigin(text.handle, number, x, y)
    return text.shown(x.value, y.value, x.value, y.value).bottom


def _write(text: PageText, numbers: list[int], name: str) -> None:
    plain = "".join(text.characters[number] for number in numbers)
    written = script(plain, *SCRIPTS[name])
    if len(written) == len(plain):
        text.characters[numbers[0] : numbers[-1] + 1] = written
    elif written != plain:  # one entry for each character
        before, _plain, after = written.partition(plain)
        text.characters[numbers[0]] = before + plain[0]
        text.characters[numbers[-1]] += after
