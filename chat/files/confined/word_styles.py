"""The styles and the numbering of the paragraphs of a Word document."""

import re
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from .containers import Package, is_on, value
from .numerals import formatted

MAX_LEVELS = 9
MAX_CHAIN = 50  # styles that are based on each other; Word has eleven at most
LEVEL = re.compile(r"%([1-9])")
HEADING = re.compile(r"heading ([1-9])|title", re.IGNORECASE)
DECIMAL = "decimal"


@dataclass(slots=True)
class Level:
    """A level of a list: `label` with %1 to %9 for the numbers of the levels."""

    start: int = 1
    kind: str = DECIMAL
    label: str = ""
    style: str = ""
    restart: int | None = None  # after which level; 0 for never
    legal: bool = False


@dataclass(slots=True)
class List:
    """Lists with the same `counters` go on counting each other's items."""

    levels: dict[int, Level]
    counters: dict[int, int]
    starts: dict[int, int] = field(default_factory=dict)  # where this list begins anew, until it has begun


class Styles:
    """The styles of paragraphs: their outline level and list, with what they are based on."""

    def __init__(self, package: Package, part: str) -> None:
        root = package.root(part)
        self._styles = {each.get("styleId", ""): each for each in root.iter("w-style")}
        self._characters: dict[tuple[str, str], Element | None] = {}
        defaults = (
            each for each in self._styles.values() if each.get("type") == "paragraph" and each.get("default")
        )
        self._default = next((each.get("styleId", "") for each in defaults if each.get("default") != "0"), "")

    def chain(self, style: str) -> list[Element]:
        """Return a style and what it is based on."""
        found: list[Element] = []
        while len(found) < MAX_CHAIN and (element := self._styles.get(style)) is not None:
            found.append(element)
            style = value(element.find("w-basedOn"))
        return found

    def heading(self, paragraph: Element | None, style: str) -> int:
        """Return the level of a heading from 1 on; 0 for other paragraphs."""
        chain = self.chain(style)
        for properties in (paragraph, *(each.find("w-pPr") for each in chain)):
            level = value(properties.find("w-outlineLvl") if properties is not None else None)
            if level.isdigit():
                return int(level) + 1 if int(level) < MAX_LEVELS else 0
        for each in chain:
            if found := HEADING.fullmatch(value(each.find("w-name"))):
                return int(found[1] or 1)
        return 0

    def numbered_by(self, style: str) -> tuple[str, Element | None]:
        """Return the style in the chain that has a list, and its properties of numbers."""
        for each in self.chain(style or self._default):
            if (numbers := each.find("w-pPr/w-numPr")) is not None:
                return each.get("styleId", ""), numbers
        return "", None

    def character(self, style: str, tag: str) -> Element | None:
        if (style, tag) not in self._characters:
            found = (each.find(f"w-rPr/{tag}") for each in self.chain(style))
            self._characters[style, tag] = next((each for each in found if each is not None), None)
        return self._characters[style, tag]


class Numbering:
    """The lists of a document, and how far they have counted."""

    def __init__(self, package: Package, part: str, styles: Styles) -> None:
        root = package.root(part)
        self._styles = styles
        self._numbers = {each.get("numId", ""): each for each in root.iter("w-num")}
        self._abstract = {each.get("abstractNumId", ""): each for each in root.iter("w-abstractNum")}
        self._counters: dict[str, dict[int, int]] = {}
        self._lists: dict[str, List | None] = {}

    def label(self, properties: Element | None, style: str) -> tuple[int, str] | None:
        """Return the level, and what stands before the paragraph; None if it is in no list. Counts it."""
        own = properties.find("w-numPr") if properties is not None else None
        owner, inherited = self._styles.numbered_by(style)
        number, depth = self._property(own, inherited, "w-numId"), self._property(own, inherited, "w-ilvl")
        if number not in self._lists:
            self._lists[number] = self._read(number)
        found = self._lists[number]
        if found is None:
            return None
        levels = (each for each, level in found.levels.items() if owner and level.style == owner)
        level = int(depth) if depth.isdigit() else next(levels, 0)
        return (level, self._next(found, level)) if level in found.levels else None

    @staticmethod
    def _property(own: Element | None, inherited: Element | None, name: str) -> str:
        return next((value(each.find(name)) for each in (own, inherited)
                     if each is not None and each.find(name) is not None), "")  # fmt: skip

    def _read(self, number: str) -> List | None:
        element = self._numbers.get(number)
        if element is None:
            return None
        name = value(element.find("w-abstractNumId"))
        abstract = self._linked(self._abstract.get(name))
        if abstract is None:
            return None
        levels = {_depth(each): _level(each) for each in abstract.findall("w-lvl")}
        starts = {}
        for override in element.findall("w-lvlOverride"):
            if (changed := override.find("w-lvl")) is not None:
                levels[_depth(override)] = _level(changed)
            if (start := value(override.find("w-startOverride"))).lstrip("-").isdigit():
                starts[_depth(override)] = int(start)
        counters = self._counters.setdefault(abstract.get("abstractNumId", name), {})
        return List(levels, counters, starts)

    def _linked(self, abstract: Element | None) -> Element | None:
        """Return the list that a style defines where only its name is given."""
        style = value(abstract.find("w-numStyleLink")) if abstract is not None else ""
        if not style:
            return abstract
        return next(
            (each for each in self._abstract.values() if value(each.find("w-styleLink")) == style), abstract
        )

    def _next(self, found: List, depth: int) -> str:
        level, counters = found.levels[depth], found.counters
        if depth in found.starts:
            counters[depth] = found.starts.pop(depth)
        else:
            counters[depth] = counters[depth] + 1 if depth in counters else level.start
        for deeper, other in found.levels.items():
            after = deeper if other.restart is None else other.restart
            if deeper > depth and depth < after:
                counters.pop(deeper, None)
        if level.kind == "bullet":
            return "-"
        return LEVEL.sub(
            lambda place: self._number(found, int(place[1]) - 1, level.legal), level.label
        ).strip()

    @staticmethod
    def _number(found: List, depth: int, legal: bool) -> str:
        level = found.levels.get(depth, Level())
        number = found.counters.setdefault(depth, level.start)
        return formatted(number, DECIMAL if legal and level.kind != "decimalZero" else level.kind)


def _depth(element: Element) -> int:
    depth = element.get("ilvl", "0")
    return int(depth) if depth.isdigit() else 0


def _level(element: Element) -> Level:
    start, restart = value(element.find("w-start"), "0"), value(element.find("w-lvlRestart"))
    return Level(
        start=int(start) if start.lstrip("-").isdigit() else 0,
        kind=value(element.find("w-numFmt"), DECIMAL),
        label=value(element.find("w-lvlText")),
        style=value(element.find("w-pStyle")),
        restart=int(restart) if restart.isdigit() else None,
        legal=is_on(element.find("w-isLgl")),
    )
