"""The text of drawings in Office files: paragraphs, tables, diagrams, charts."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from .containers import OFF, Package, Relation
from .fonts import Piece, font_of, joined, text_in
from .number_codes import GENERAL, shown
from .numerals import formatted
from .office_math import tex_of
from .word_runs import alternative

INDENT = "  "
NUMBERS = {"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman",
"romanUc": "upperRoman",
           "arabic": "decimal"}  # fmt: skip
AROUND = {"Period": ("", "."), "ParenR": ("", ")"), "ParenBoth": ("(", ")"), "Plain": ("", "")}
MAX_POINTS = 200
LABELS, VALUES = ("c-cat", "c-xVal", "cx-strDim"), ("c-val", "c-yVal", "cx-numDim")
Points = dict[int, str]  # by their place; empty ones are not there


def body_text(body: Element | None, relations: dict[str, Relation], has_bullets: bool = False) -> str:
    """Return the paragraphs of a body. `has_bullets`: unless they say otherwise."""
    lines: list[str] = []
    counts: dict[int, int] = {}
    for paragraph in body.iter("a-p") if body is not None else ():
        text = joined(list(_inline(paragraph, relations))).strip()
        if not text:
            continue
        properties = paragraph.find("a-pPr")
        level = int(properties.get("lvl", "0")) if properties is not None else 0
        label = _label(properties, has_bullets, counts, level)
        lines.append(f"{INDENT * level}{label} {text}" if label else text)
    return "\n".join(lines)


def _label(properties: Element | None, has_bullets: bool, counts: dict[int, int], level: int) -> str:
    """Return what stands before a paragraph, and count it."""
    number = properties.find("a-buAutoNum") if properties is not None else None
    for each in [each for each in counts if each > level or (each == level and number is None)]:
        del counts[each]
    if number is not None:
        counts[level] = counts[level] + 1 if level in counts else int(number.get("startAt", "1"))
        kind = number.get("type", "arabicPeriod")
        base = next((base for base in NUMBERS if kind.startswith(base)), "arabic")
        before, behind = AROUND.get(kind.removeprefix(base), ("", "."))
        return before + formatted(counts[level], NUMBERS[base]) + behind
    if properties is not None and properties.find("a-buNone") is not None:
        return ""
    return "-" if has_bullets or (properties is not None and properties.find("a-buChar") is not None) else ""


def _inline(element: Element, relations: dict[str, Relation]) -> Iterator[Piece]:
    for child in element:
        if child.tag in ("a-r", "a-fld"):
            yield _run(child, relations)
        elif child.tag == "a-br":
            yield "\n", ()
        elif child.tag == "m-oMathPara":
            yield "".join(f"$${tex_of(each)}$$" for each in child.iter("m-oMath")), ()
        elif child.tag == "m-oMath":
            yield f"${tex_of(child)}$", ()
        elif child.tag == "mc-AlternateContent":
            yield from _inline(alternative(child), relations)
        elif child.tag == "m":  # of Microsoft's, around an equation
            yield from _inline(child, relations)


def _run(run: Element, relations: dict[str, Relation]) -> Piece:
    text, properties = "".join(each.text or "" for each in run.iter("a-t")), run.find("a-rPr")
    if properties is None:
        return text, ()
    baseline = properties.get("baseline", "0").rstrip("%")
    vertical = "" if baseline == "0" else "subscript" if baseline.startswith("-") else "superscript"
    is_struck = properties.get("strike", "noStrike") != "noStrike"
    font = font_of(_typeface(properties, "a-latin"), is_struck, vertical)
    # PowerPoint makes an arrow of "à" in this font, and keeps the font for the words behind it.
    is_sign = len(text.strip()) == 1 and not text.isascii()
    text = text_in(text_in(text, font.name), _typeface(properties, "a-sym"), private_only=not is_sign)
    link = properties.find("a-hlinkClick")
    target = relations.get(link.get("r-id", "")) if link is not None else None
    if target is not None and target.kind == "hyperlink" and text.strip() and text != target.target:
        return f"[{joined([(text, font.marks)])}]({target.target})", ()
    return text, font.marks


def _typeface(properties: Element, tag: str) -> str:
    found = properties.find(tag)
    return found.get("typeface", "") if found is not None else ""


def table_text(table: Element, relations: dict[str, Relation]) -> str:
    """Return a table; a merged value stands in each of its rows, and columns if it has not the whole row."""
    lines: list[list[str]] = []
    for row in table.iter("a-tr"):
        line: list[str] = []
        cells = row.findall("a-tc")
        is_wide = bool(cells) and cells[0].get("gridSpan") == str(len(cells))
        for cell in cells:
            text = body_text(cell.find("a-txBody"), relations).replace("|", r"\|").replace("\n", "<br>")
            if cell.get("hMerge", "0") not in OFF and line:
                text = "" if is_wide else line[-1]
            elif cell.get("vMerge", "0") not in OFF and lines:
                text = lines[-1][len(line)] if len(line) < len(lines[-1]) else ""
            line.append(text)
        lines.append(line)
    return markdown_table(lines)


def markdown_table(lines: list[list[str]]) -> str:
    """Return a table of cells without pipes, whose first line is its head; "" if nothing is in it."""
    if not any(any(line) for line in lines):
        return ""
    width = max(map(len, lines))
    head, *rows = [f"| {' | '.join([*line, *[''] * (width - len(line))])} |" for line in lines]
    return "\n".join([head, f"|{' --- |' * width}", *rows])


def graphic_text(package: Package, element: Element, relations: dict[str, Relation]) -> str:
    """Return the text of the chart or the diagram in an element; "" for other drawings."""
    for each in element.iter():
        part = relations.get(each.get("r-dm" if each.tag == "dgm-relIds" else "r-id", ""))
        if part is None:
            continue
        if each.tag == "dgm-relIds":
            return "\n".join(_diagram(package.root(part.target)))
        if each.tag in ("c-chart", "cx-chart"):
            return "\n\n".join(_chart(package.root(part.target), each.tag))
    return ""


def _chart(root: Element, tag: str) -> Iterator[str]:
    title = next(root.iter(tag), root).find(tag.replace("chart", "title"))  # not that of an axis
    words = body_text(title, {}) or " ".join(value_texts(title))
    yield f"[chart: {words}]" if words else "[chart]"
    yield from map(markdown_table, chart_tables(root))


def _diagram(root: Element) -> Iterator[str]:
    """Return the points of a diagram as a list, nested and ordered by what connects them."""
    points = {each.get("modelId", str(at)): each for at, each in enumerate(root.iter("dgm-pt"))}
    children: dict[str, list[tuple[int, str]]] = {}
    for each in root.iter("dgm-cxn"):
        if each.get("type", "parOf") == "parOf":
            place = int(each.get("srcOrd", "0")), each.get("destId", "")
            children.setdefault(each.get("srcId", ""), []).append(place)
    below = {child for each in children.values() for _, child in each}
    waiting = [(each, 0) for each in reversed([*(each for each in points if each not in below), *points])]
    while waiting:
        name, depth = waiting.pop()
        text = body_text(points.pop(name, None), {})
        if text:
            yield f"{INDENT * depth}- {text}"
        waiting += [(each, depth + bool(text)) for _, each in sorted(children.pop(name, ()), reverse=True)]


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
    except ValueError:
        return text


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
