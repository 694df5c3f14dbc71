"""The text of drawings in Office files: paragraphs, tables, diagrams, charts."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from .charts import chart_tables, value_texts
from .marked_text import Piece, font_of, joined
from .number_formats import formatted
from .office_math import tex_of
from .ooxml import OFF, Package, Relation
from .symbol_fonts import text_in
from .word_runs import alternative

INDENT = "  "
NUMBERS = {"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman",
"romanUc": "upperRoman",
           "arabic": "decimal"}  # fmt: skip
AROUND = {"Period": ("", "."), "ParenR": ("", ")"), "ParenBoth": ("(", ")"), "Plain": ("", "")}


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
