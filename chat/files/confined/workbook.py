"""The sheets of an Excel workbook as Markdown tables, with the values that a reader sees."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from .containers import OFF, Package, Relation, is_on, target_of, value
from .date_codes import date_number
from .drawing_text import body_text, graphic_text
from .fonts import PLAIN, Font, Rich, font_of, in_font
from .number_codes import BUILT_IN, GENERAL, shown
from .numerals import column_number
from .problem import Problem
from .sheet_table import NOT_CALCULATED, Sheet, notes_of, tables

REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?")
LINK = re.compile(r'=\s*HYPERLINK\(\s*"([^"]+)"', re.IGNORECASE)
ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
# How a file writes the names of newer functions.
NEW_FUNCTION = re.compile(r"_xl(?:fn|ws|udf|pm)\.")
MAX_CHARACTERS = 8_000_000  # more than may be read of a document
MAX_CELLS = 2_000_000
UNSTYLED = GENERAL, PLAIN


@dataclass(slots=True)
class _Book:
    """The parts that the sheets share. `styles`: the code and the font of each."""

    texts: list[Rich]
    styles: list[tuple[str, Font]]
    is_1904: bool
    rich_values: list[str]
    characters: int = 0
    formulas: dict[str, str] = field(default_factory=dict)  # of a sheet, by the number that cells share


def workbook_pages(content: bytes) -> Iterator[str]:
    """Return the sheets, each under its name; those without content are left out."""
    package = Package(content)
    part = package.main_part("xl/workbook.xml")
    root, relations = package.root(part), package.relations(part)
    properties = root.find("x-workbookPr")
    is_1904 = properties is not None and properties.get("date1904", "0") not in OFF
    book = _Book(
        [_rich_text(each) for each in package.elements(target_of(relations, "sharedStrings"), ("x-si",))],
        _styles(package, target_of(relations, "styles")),
        is_1904,
        rich_values(package, relations),
    )
    for element in root.iter("x-sheet"):
        relation = relations.get(element.get("r-id", ""))
        if relation is None or relation.kind not in ("worksheet", "chartsheet"):
            continue
        parts = [*tables(_sheet(package, relation.target, book)), *_drawn(package, relation.target)]
        text = "\n\n".join(parts)
        hidden = " (hidden)" if element.get("state", "visible") != "visible" else ""
        if text:
            yield f"## {element.get('name', '')}{hidden}\n\n{text}"


def _drawn(package: Package, part: str) -> Iterator[str]:
    """Return the texts of boxes, diagrams and pictures on a sheet; the titles of charts of its values."""
    drawings = (each.target for each in package.relations(part).values() if each.kind == "drawing")
    for drawing in drawings:
        links = package.relations(drawing)
        for anchor in package.root(drawing):
            graphic = graphic_text(package, anchor, links).partition("\n\n")[0]
            said = " ".join(each.get("descr", "") for each in anchor.iter("cNvPr")).strip()
            if text := graphic or body_text(anchor, {}) or (said and f"[picture: {said}]"):
                yield text


def _rich_text(element: Element) -> Rich:
    """Return a text in one or more runs, without the readings of its ideographs."""
    runs = [each for each in element if each.tag in ("x-t", "x-r")]
    if all(each.find("x-rPr") is None for each in runs):
        return "".join(map(_run, runs))
    return tuple((_run(each), _font(each.find("x-rPr"))) for each in runs)


def _run(element: Element) -> str:
    text = element if element.tag == "x-t" else element.find("x-t")
    return _unescaped((text.text or "") if text is not None else "")


def _unescaped(text: str) -> str:
    """Return a text with the characters that XML cannot hold, or that look like those (ST_Xstring)."""
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _font(element: Element | None) -> Font | None:
    if element is None:
        return None
    name = next((value(each) for each in element if each.tag in ("x-rFont", "x-name")), "")
    return font_of(name, is_on(element.find("x-strike")), value(element.find("x-vertAlign")))


def _styles(package: Package, part: str) -> list[tuple[str, Font]]:
    root = package.root(part)
    codes = BUILT_IN | {
        int(each.get("numFmtId", "0")): each.get("formatCode", "") for each in root.iter("x-numFmt")
    }
    fonts = {str(at): _font(each) for at, each in enumerate(root.iterfind("x-fonts/x-font"))}
    return [(codes.get(int(each.get("numFmtId", "0")), GENERAL), fonts.get(each.get("fontId", "")) or PLAIN)
            for each in root.iterfind("x-cellXfs/x-xf")]  # fmt: skip


def _sheet(package: Package, part: str, book: _Book) -> Sheet:
    sheet, relations = Sheet(), package.relations(part)
    book.formulas = {}
    row_number = 0
    for element in package.elements(part, ("x-row", "x-col", "x-mergeCell", "x-hyperlink")):
        if element.tag == "x-row":
            row_number = int(element.get("r", row_number + 1))
            _read_row(element, row_number, sheet, book)
        elif element.tag == "x-col" and (_is_hidden(element) or element.get("width") == "0"):
            first, last = int(element.get("min", "1")), int(element.get("max", "1"))
            sheet.hidden_columns.append(range(first, last + 1))
        elif element.tag == "x-mergeCell" and (found := REFERENCE.fullmatch(element.get("ref", ""))):
            sheet.merged.append(_area(found))
        elif element.tag == "x-hyperlink":
            _link(element, sheet, relations)
    for reference, note in notes_of(package, relations):
        if found := REFERENCE.fullmatch(reference):
            sheet.notes.append((int(found[2]), column_number(found[1]), note))
    return sheet


def _is_hidden(element: Element) -> bool:
    return element.get("hidden", "0") not in OFF


def _area(found: re.Match[str]) -> tuple[range, range]:
    """Return the rows and columns of a range."""
    top, left = int(found[2]), column_number(found[1])
    bottom, right = int(found[4] or top), column_number(found[3] or found[1])
    return range(top, bottom + 1), range(left, right + 1)


def _read_row(element: Element, number: int, sheet: Sheet, book: _Book) -> None:
    cells: dict[int, str] = {}
    column = 0
    for cell in element:
        found = REFERENCE.fullmatch(cell.get("r", ""))
        column = column_number(found[1]) if found else column + 1
        if text := _cell(cell, book):
            cells[column] = text
            book.characters += len(text) + 3
            sheet.cells += 1
    if book.characters > MAX_CHARACTERS or sheet.cells > MAX_CELLS:
        raise Problem("long")
    if cells:
        sheet.rows[number] = cells
        if _is_hidden(element) or element.get("ht") == "0":
            sheet.hidden_rows.add(number)


def _cell(cell: Element, book: _Book) -> str:
    """Return what a cell shows; its formula if no result is stored."""
    kind, element, formula = cell.get("t", "n"), cell.find("x-v"), cell.find("x-f")
    stored = (element.text or "") if element is not None else ""
    if formula is not None and not stored and kind != "str":
        return f"{_formula(formula, cell.get('r', ''), book)} {NOT_CALCULATED}"
    style = cell.get("s", "")
    code, font = book.styles[int(style)] if style.isdigit() and int(style) < len(book.styles) else UNSTYLED
    text = in_font(_value(kind, stored, cell, code, book), font)
    link = LINK.match(_formula(formula, cell.get("r", ""), book)) if formula is not None else None
    return _linked(text, link[1]) if link else text


def _value(kind: str, stored: str, cell: Element, code: str, book: _Book) -> Rich:
    if kind == "inlineStr":
        found = cell.find("x-is")
        return _rich_text(found) if found is not None else ""
    if kind == "s":
        return book.texts[int(stored)] if stored.isdigit() and int(stored) < len(book.texts) else ""
    if kind == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(stored, stored)
    if kind == "e" and (number := cell.get("vm", "")).isdigit() and 0 < int(number) <= len(book.rich_values):
        return book.rich_values[int(number) - 1] or stored
    if kind not in ("n", "d") or not stored:
        return _unescaped(stored)
    if kind == "d" and code == GENERAL:
        return stored
    try:
        amount = float(stored) if kind == "n" else date_number(stored, book.is_1904)
    except ValueError:
        return stored
    return shown(amount, code, book.is_1904).strip()


def _formula(element: Element, reference: str, book: _Book) -> str:
    shared, text = element.get("si"), NEW_FUNCTION.sub("", element.text or "")
    if text:
        if shared is not None:
            book.formulas[shared] = f"{text}, as in {reference}"
        return f"={text}"
    return f"={book.formulas.get(shared or '', '')}"


def _link(element: Element, sheet: Sheet, relations: dict[str, Relation]) -> None:
    target, found = relations.get(element.get("r-id", "")), REFERENCE.fullmatch(element.get("ref", ""))
    if target is None or found is None:
        return
    row, column = int(found[2]), column_number(found[1])
    if text := sheet.rows.get(row, {}).get(column):
        sheet.rows[row][column] = _linked(text, target.target)


def _linked(text: str, address: str) -> str:
    if text in (address, address.removeprefix("mailto:")) or "](" in text:
        return text
    return f"[{text or address}]({address})"


def rich_values(package: Package, relations: dict[str, Relation]) -> list[str]:
    """Return what rich values ([MS-XLSX]) show, by the numbers (`vm`) of cells; "" for what is unknown."""
    roots = {each.kind: package.root(each.target) for each in relations.values()
             if each.kind in ("sheetMetadata", "rdRichValue", "rdRichValueStructure")}  # fmt: skip
    if len(roots) < 3:
        return []
    structures = list(roots["rdRichValueStructure"].iter("s"))
    values = [_shown(each, structures) for each in roots["rdRichValue"].iter("rv")]
    places = [each.get("i", "") for each in roots["sheetMetadata"].iter("rvb")]
    blocks = roots["sheetMetadata"].iterfind("x-valueMetadata/x-bk/x-rc")
    return [_at(values, _at(places, each.get("v", ""))) for each in blocks]


def _shown(rich: Element, structures: list[Element]) -> str:
    number = rich.get("s", "")
    if not number.isdigit() or int(number) >= len(structures):
        return ""
    structure = structures[int(number)]
    fields = {key.get("n"): each.text or "" for key, each in zip(structure, rich, strict=False)}
    if structure.get("t", "").lower() in ("_localimage", "_webimage"):
        return f"[picture: {fields['Text']}]" if fields.get("Text") else "[picture]"
    return fields.get("_DisplayString", "")


def _at(values: list[str], number: str) -> str:
    return values[int(number)] if number.isdigit() and int(number) < len(values) else ""
