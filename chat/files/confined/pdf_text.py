"""The characters of a page of a PDF, and where they stand."""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

from pypdfium2 import raw

# PDFium's sign for a hyphen at the end of a line, which is dropped, as if it always divided a word.
DIVIDED = re.compile(r"(?<=(.))[\x02\ufffe](?=[\r\n]*(.))")
PART = re.compile(r"\w{,40}\Z")  # of a word before it
BREAK = re.compile(r"(?<=\S)[\r\n]+(?=[^\r\n])")
UNREADABLE = "\ufffd"
LIGATURES = re.compile("[\x0b-\x0f]")  # in TeX's fonts, beside letters as ASCII has them
NO_BREAK = "\x1f"  # a space for Python, which is no part of a clean text
MAX_RAISED = 4  # characters below or above each other, with their letter
TOUCHING = 0.1  # between two characters, in heights of the higher one
# A space before a string of one character, which PDFium takes for a part of the line above.
GUESSED = re.compile(r"(?<=\S) (?=\S(?:\s|$))")
# Letters of scripts that set no spaces between words: Thai to Khmer, Chinese, Japanese.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff]")
MAX_ANGLES = 300  # of characters that are asked for theirs
SAMPLED = 10  # every so many characters of a line are asked where they are


class Box(NamedTuple):
    """A rectangle on the page as its text is read, after its rotation; `top` is greater than `bottom`."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    @property
    def height(self) -> float:
        return self.top - self.bottom

    def holds(self, point: tuple[float, float]) -> bool:
        return self.left <= point[0] <= self.right and self.bottom <= point[1] <= self.top

    def joined(self, other: "Box") -> "Box":
        return Box(
            min(self.left, other.left),
            min(self.bottom, other.bottom),
            max(self.right, other.right),
            max(self.top, other.top),
        )

    def overlaps(self, other: "Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def shares_line(self, other: "Box") -> bool:
        """Return True if at least half of the lower one stands beside the other."""
        shared = min(self.top, other.top) - max(self.bottom, other.bottom)
        return shared >= min(self.height, other.height) / 2


class PageText:
    """The characters in the order in which the page draws them; spaces and line feeds are PDFium's.

    `turns`: by 90 degrees clockwise, after which most characters stand upright.
    """

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self._boxes: dict[int, Box] = {}
        self._rectangle = raw.FS_RECTF()
        text = handle.get_text_range()
        count = handle.count_chars()
        if len(text) != count:  # a character that is written as several
            codes = (raw.FPDFText_GetUnicode(handle, number) for number in range(count))
            text = [chr(code) if code <= 0x10FFFF else UNREADABLE for code in codes]
        self.characters: list[str] = list(DIVIDED.sub(_hyphen, "".join(self._readable(list(text)))))
        self.turns = self._quarter_turns()
        self._shown_box = self.shown(*handle.page.get_bbox())
        self._leave_out_unseen()
        for found in BREAK.finditer("".join(self.characters)):
            if self._goes_on(found.start() - 1, found.end()):
                self.characters[found.start() : found.end()] = [NO_BREAK] * len(found[0])
        for found in GUESSED.finditer("".join(self.characters)):
            if self._begins_line(found.end()):
                self.characters[found.start()] = "\n"

    def box(self, number: int) -> Box:
        found = self._boxes.get(number)
        if found is None:
            edges = self._rectangle
            raw.FPDFText_GetLooseCharBox(self.handle, number, edges)
            found = self._boxes[number] = self.shown(edges.left, edges.bottom, edges.right, edges.top)
        return found

    def _readable(self, characters: list[str]) -> list[str]:
        """Return the characters, with a mark for each whose font has only a code for it.

        The codes of letters are those of ASCII in many old fonts; not so in a font that has others too.
        """
        controls = [number for number, each in enumerate(characters) if each < " "]
        unknown = [number for number in controls if raw.FPDFText_HasUnicodeMapError(self.handle, number)]
        if any(not LIGATURES.match(characters[number]) for number in unknown):
            unknown = [
                number
                for number in range(len(characters))
                if raw.FPDFText_HasUnicodeMapError(self.handle, number) == 1
            ]
        for number in unknown:
            characters[number] = UNREADABLE
        return characters

    def _leave_out_unseen(self) -> None:
        """Leave out what is drawn outside of the page's visible part: printers' marks, the next page."""
        if all(self._shown_box.holds(box.middle) for box in self._drawn()):
            return
        is_unseen = False
        for number, character in enumerate(self.characters):
            if not character.isspace():
                is_unseen = not self._shown_box.holds(self.box(number).middle)
            if is_unseen:  # with the end of its line
                self.characters[number] = NO_BREAK

    def _quarter_turns(self) -> int:
        step = 1 + len(self.characters) // MAX_ANGLES
        shown = [number for number, each in enumerate(self.characters) if not each.isspace()][::step]
        angles = (raw.FPDFText_GetCharAngle(self.handle, number) for number in shown)
        turns = Counter(-round(angle / (math.pi / 2)) % 4 for angle in angles if angle >= 0)  # -1: none
        return turns.most_common(1)[0][0] if turns else 0

    def _goes_on(self, last: int, number: int) -> bool:
        """Return True if a character touches the last ones: PDFium breaks lines at raised and lowered ones.

        It may stand beside their letter only: an exponent behind or above an index, a letter behind it.
        """
        this = self.box(number)
        beside = [self.box(each) for each in self._back(last)]
        return any(map(this.shares_line, beside)) and any(
            abs(this.left - box.right) < TOUCHING * max(this.height, box.height) for box in beside
        )

    def _back(self, last: int) -> Iterable[int]:
        """Return the numbers of the last characters of a word."""
        numbers = range(last, max(last - MAX_RAISED, -1), -1)
        return takewhile(lambda number: not self.characters[number].isspace(), numbers)

    def _begins_line(self, number: int) -> bool:
        """Return True if a character behind a space stands lower than what is before it, and further left."""
        before, this = self.box(number - 2), self.box(number)
        return this.middle[1] < before.bottom and this.left < before.left

    @cached_property
    def lines(self) -> list[tuple[range, Box]]:
        """The numbers of the characters of each line, and about where it stands."""
        edges = [number for number, each in enumerate(self.characters) if each in "\r\n"]
        lines = []
        for start, end in pairwise([-1, *edges, len(self.characters)]):
            if numbers := self.stripped(range(start + 1, end)):
                lines.append((numbers, self.extent(numbers)))
        return lines

    def stripped(self, numbers: range) -> range:
        """Return the numbers without those of spaces around them."""
        while numbers and self.characters[numbers[0]].isspace():
            numbers = numbers[1:]
        while numbers and self.characters[numbers[-1]].isspace():
            numbers = numbers[:-1]
        return numbers

    def extent(self, numbers: range) -> Box:
        box = self.box(numbers[-1])
        for number in numbers[::SAMPLED]:
            if not self.characters[number].isspace():
                box = box.joined(self.box(number))
        return box

    def string_boxes(self) -> Iterable[Box]:
        """Return where the strings stand that the page shows; faster than `box`."""
        return filter(lambda box: self._shown_box.holds(box.middle), self._drawn())

    def _drawn(self) -> Iterable[Box]:
        for number in range(self.handle.count_rects()):
            yield self.shown(*self.handle.get_rect(number))

    def shown(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a rectangle as it is read, where most of the text stands upright."""
        for _turn in range(self.turns):
            left, bottom, right, top = bottom, -right, top, -left
        return Box(left, bottom, right, top)

    def inside(self, box: Box) -> list[int]:
        """Return the numbers of the characters in a rectangle."""
        return [
            number
            for numbers, extent in self.lines
            if extent.overlaps(box)
            for number in numbers
            if box.holds(self.box(number).middle) and not self.characters[number].isspace()
        ]

    def whole_words(self, box: Box) -> list[int]:
        """Return the numbers of the characters of words in a rectangle, which rarely fits them.

        Those are in it whose middle is. If there is none, it is the last word of which a part is in it.
        """
        inside = self.inside(box)
        words = list(dict.fromkeys(map(self._word, inside)))
        found = [word for word in words if box.holds(self.extent(word).middle)] or words[-1:]
        return [number for word in found for number in word]

    def _word(self, number: int) -> range:
        """Return the word of a character; it alone if it is a sign, or of a script without spaces."""
        start, end = number, number + 1
        if not self._joins(number):
            return range(start, end)
        while start > 0 and self._joins(start - 1):
            start -= 1
        while end < len(self.characters) and self._joins(end):
            end += 1
        return range(start, end)

    def _joins(self, number: int) -> bool:
        return self.characters[number].isalnum() and not UNSPACED.match(self.characters[number])

    def words(self, numbers: Iterable[int]) -> str:
        return " ".join("".join(self._spaced(sorted(numbers))).split())

    def _spaced(self, numbers: list[int]) -> Iterable[str]:
        for before, number in zip([None, *numbers], numbers, strict=False):
            yield (" " if before is not None and number != before + 1 else "") + self.characters[number]

    def joined(self, order: Iterable[int | str], insertions: Mapping[int, str]) -> str:
        """Return the text in this order, of numbers of characters and of texts between them.

        `insertions`: what stands behind single characters; before the first one at -1.
        """
        parts = [insertions.get(-1, "")]
        for each in order:
            parts.append(each if isinstance(each, str) else self.characters[each])
            if insertions and not isinstance(each, str) and each in insertions:
                parts.append(insertions[each])
        return "".join(parts)


def _hyphen(found: re.Match[str]) -> str:
    """Return the hyphen of compounds such as COVID-19; no word is divided behind its first letter."""
    before, after = found.groups()
    part = PART.search(found.string, max(0, found.start() - 40), found.start())
    is_letter = part is not None and len(part[0]) == 1
    is_kept = after.isdigit() or (before.islower() and after.isupper()) or is_letter
    return "-" if is_kept else found[0]


def text_of(function: Any, *arguments: Any) -> str:
    """Return the text that a function of PDFium writes into a buffer as UTF-16."""
    size = function(*arguments, None, 0)
    if not 2 < size < 4_000_000:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return buffer.raw.decode("utf-16-le", "replace").partition("\0")[0].strip()
