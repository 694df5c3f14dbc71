"""The values of a chart as tables: with the names of its series, and each value at its own point."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from .number_codes import GENERAL, shown
from .ooxml import OFF

MAX_POINTS = 200
LABELS, VALUES = ("c-cat", "c-xVal", "cx-strDim"), ("c-val", "c-yVal", "cx-numDim")
Points = dict[int, str]  # by their place; empty ones are not there


def chart_tables(root: Element) -> Iterator[list[list[str]]]:
    """Return the rows of tables, one for all series with the same labels."""
    dates = next(root.iter("c-date1904"), None)
    is_1904 = dates is not None and dates.get("val", "1") not in OFF
    data = {each.get("id", ""): each for each in root.iter("cx-data")}  # of newer kinds of charts
    columns: dict[tuple[str, ...], list[tuple[str, Points]]] = {}
    usual: tuple[str, ...] = ()
    for series in (each for each in root.iter() if each.tag in ("c-ser", "cx-series")):
        own, reference = series, series.find("cx-dataId")
        if reference is not None:
            own = data.get(reference.get("val", ""), series)
        name = " ".join(value_texts(series.find(series.tag.partition("-")[0] + "-tx")))
        labels = _labels(_part(own, LABELS), is_1904) or usual
        usual = usual or labels
        columns.setdefault(labels, []).append((name, _points(_part(own, VALUES), is_1904)))
        if sizes := _points(_part(own, ("c-bubbleSize",)), is_1904):
            columns[labels].append((f"{name} (size)", sizes))
    for labels, beside in columns.items():
        count = max(len(labels), *(max(points, default=-1) + 1 for _, points in beside))
        names = labels or [str(at) for at in range(1, count + 1)]
        yield [["", *(name for name, _ in beside)]] + [
            [names[at] if at < len(names) else "", *(points.get(at, "") for _, points in beside)]
            for at in range(count)
        ]


def value_texts(element: Element | None) -> list[str]:
    found = element.iter() if element is not None else ()
    return [_cell(each.text or "") for each in found if each.tag in ("c-v", "cx-v")]


def _part(series: Element, tags: tuple[str, ...]) -> Element:
    return next((each for each in series if each.tag in tags), Element("none"))


def _labels(element: Element, is_1904: bool) -> tuple[str, ...]:
    """Return the labels of the points: of several levels, which begin with the inner one, as one."""
    levels = [each for each in element.iter() if each.tag in ("c-lvl", "cx-lvl")] or [element]
    *outer, inner = [_points(each, is_1904) for each in reversed(levels)]
    found: list[str] = []
    names = [""] * len(outer)  # which hold until the next ones
    for at in range(max(inner, default=-1) + 1):
        names = [each.get(at, name) for each, name in zip(outer, names, strict=True)]
        found.append(" – ".join(filter(None, (*names, inner.get(at, "")))))
    return tuple(found)


def _points(element: Element, is_1904: bool) -> Points:
    found: Points = {}
    code = next((each.text or GENERAL for each in element.iter("c-formatCode")), "")
    for point in element.iter():
        if point.tag == "cx-lvl":
            code = point.get("formatCode", "")
        place = point.get("idx", "") if point.tag in ("c-pt", "cx-pt") else ""
        if place.isdigit() and int(place) < MAX_POINTS:
            stored = point.find("c-v")
            text = (stored if stored is not None else point).text or ""
            found[int(place)] = _cell(_shown(text, point.get("formatCode", code), is_1904))
    return found


def _shown(text: str, code: str, is_1904: bool) -> str:
    """Return a number in its format; texts have none."""
    try:
        return (code and shown(float(text), code, is_1904).strip()) or text
    except (ArithmeticError, ValueError, IndexError):
        return text


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
