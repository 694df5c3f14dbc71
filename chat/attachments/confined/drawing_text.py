"""The text of drawings in Office files: paragraphs, tables, diagrams, charts."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from .number_formats import formatted
from .office_math import tex_of
from .ooxml import Package, Relation
from .word_runs import alternative, raised

INDENT = "  "
NUMBERS = {"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman",
"romanUc": "upperRoman",
           "arabic": "decimal"}  # fmt: skip
AROUND = {"Period": ("", "."), "ParenR": ("", ")"), "ParenBoth": ("(", ")"), "Plain": ("", "")}
MAX_POINTS = 200  # of a chart


def body_text(body: Element | None, relations: dict[str, Relation], has_bullets: bool = False) -> str:
    """Return the paragraphs of a body. `has_bullets`: unless they say otherwise."""
    lines: list[str] = []
    counts: dict[int, int] = {}
    for paragraph in body.iter("a-p") if body is not None else ():
        text = _inline(paragraph, relations).strip()
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


def _inline(element: Element, relations: dict[str, Relation]) -> str:
    found = ""
    for child in element:
        if child.tag in ("a-r", "a-fld"):
            found += _run(child, relations)
        elif child.tag == "a-br":
            found += "\n"
        elif child.tag == "m-oMathPara":
            found += "".join(f"$${tex_of(each)}$$" for each in child.iter("m-oMath"))
        elif child.tag == "m-oMath":
            found += f"${tex_of(child)}$"
        elif child.tag == "mc-AlternateContent":
            found += _inline(alternative(child), relations)
        elif child.tag == "m":  # of Microsoft's, around an equation
            found += _inline(child, relations)
    return found


def _run(run: Element, relations: dict[str, Relation]) -> str:
    text = "".join(each.text or "" for each in run.iter("a-t"))
    properties = run.find("a-rPr")
    if properties is None:
        return text
    baseline = properties.get("baseline", "0")
    if baseline not in ("0", "0%"):
        text = raised(text, "subscript" if baseline.startswith("-") else "superscript")
    if properties.get("strike", "noStrike") != "noStrike":
        text = f"~~{text}~~"
    link = properties.find("a-hlinkClick")
    target = relations.get(link.get("r-id", "")) if link is not None else None
    if target is not None and target.kind == "hyperlink" and text.strip() and text != target.target:
        return f"[{text}]({target.target})"
    return text


def table_text(table: Element, relations: dict[str, Relation]) -> str:
    """Return a table; a merged value stands in each of its rows."""
    lines: list[list[str]] = []
    for row in table.iter("a-tr"):
        line: list[str] = []
        for cell in row.findall("a-tc"):
            text = body_text(cell.find("a-txBody"), relations).replace("|", r"\|").replace("\n", "<br>")
            if cell.get("vMerge") and lines:
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
        if each.tag == "c-chart" and (chart := relations.get(each.get("r-id", ""))):
            return "\n\n".join(_chart(package.root(chart.target)))
        if each.tag == "dgm-relIds" and (diagram := relations.get(each.get("r-dm", ""))):
            root = package.root(diagram.target)
            return "\n".join(f"- {text}" for point in root.iter("dgm-pt") if (text := body_text(point, {})))
    return ""


def _chart(root: Element) -> Iterator[str]:
    title = next(root.iter("c-chart"), root).find("c-title")  # not that of an axis
    words = body_text(title, {})
    yield f"[chart: {words}]" if words else "[chart]"
    series = list(root.iter("c-ser"))
    names = [" ".join(_points(each.find("c-tx"))) for each in series]
    labels = next(
        filter(None, (_points(each.find(tag)) for each in series for tag in ("c-cat", "c-xVal"))), []
    )
    values = [_points(next((found for tag in ("c-val",
    "c-yVal") if (found := each.find(tag)) is not None), None))
              for each in series]  # fmt: skip
    rows = [
        [label, *(points[at] if at < len(points) else "" for points in values)]
        for at, label in enumerate(labels)
    ]
    yield markdown_table([["", *names], *rows[:MAX_POINTS]])


def _points(element: Element | None) -> list[str]:
    return [each.text or "" for each in element.iter("c-v")] if element is not None else []
