"""The text of a Word document as Markdown, with the numbers, notes and equations that a reader sees."""

import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from .containers import Package, Relation, is_on, target_of, value
from .drawing_text import graphic_text, markdown_table
from .word_fields import Bindings
from .word_runs import Notes, Runs, alternative
from .word_styles import Numbering, Styles

# What holds paragraphs and tables without being one.
HOLDERS = ("w-sdt", "w-sdtContent", "w-customXml", "w-ins", "w-moveTo", "w-smartTag", "w-txbxContent")
ROW_HOLDERS = ("w-sdt", "w-sdtContent", "w-customXml", "w-ins", "w-moveTo")
PARTS_OF_NOTES = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}
MAX_HEADING = 6
# What tells the kind of a file in a document.
CHUNKS = (
    (re.compile(rb"PK\x03\x04"), "office"),
    (re.compile(rb"[^<]*?^content-type:", re.MULTILINE | re.IGNORECASE), "mail"),
    (re.compile(rb"[^<]*<(?:!doctype|[a-z]\w*)[\s>/]", re.IGNORECASE), "html"),
)
RTF = b"{\\rtf"  # which nothing here reads
CHUNK_HEAD_BYTES = 4_096
LIST_INDENT = "  "


def word_text(content: bytes) -> str:
    """Return the document as Markdown. Raises what parsers raise for a broken one."""
    package = Package(content)
    return "\n\n".join(filter(None, _Document(package, package.main_part("word/document.xml")).blocks()))


class _Document:
    def __init__(self, package: Package, part: str) -> None:
        self._package, self._part = package, part
        self._relations = package.relations(part)
        self._styles = Styles(package, target_of(self._relations, "styles"))
        self._numbering = Numbering(package, target_of(self._relations, "numbering"), self._styles)
        stores = (each.target for each in self._relations.values() if each.kind == "customXml")
        self._bindings = Bindings(package, stores)
        self._notes = Notes()
        self._runs = self._new_runs(self._relations)

    def blocks(self) -> Iterator[str]:
        """Return the paragraphs and tables; headers before them; notes, comments and footers behind."""
        yield from self._around("header")
        body = self._bindings.filled(self._package.children(self._part, "w-body"))
        yield from _with_lists(self._blocks(body, self._runs))
        yield from self._noted()
        yield from self._around("footer")

    def _new_runs(self, relations: dict[str, Relation]) -> Runs:
        return Runs(
            relations,
            self._styles,
            self._notes,
            boxes=lambda box: "\n".join(self._texts(box, self._new_runs(relations))),
            graphics=lambda drawing: graphic_text(self._package, drawing, relations),
        )

    def _around(self, kind: str) -> Iterator[str]:
        """Return the headers or footers, each text once."""
        found: dict[str, None] = {}
        for relation in self._relations.values():
            if relation.kind == kind:
                runs = self._new_runs(self._package.relations(relation.target))
                text = "\n\n".join(
                    self._texts(self._bindings.filled(self._package.root(relation.target)), runs)
                )
                if any(map(str.isalpha, text)):
                    found[text] = None
        yield from found

    def _noted(self) -> Iterator[str]:
        parts = {kind: target_of(self._relations, part) for kind, part in PARTS_OF_NOTES.items()}
        roots = {kind: {each.get("id", ""): each for each in self._package.root(part)}
                 for kind, part in parts.items()}  # fmt: skip
        for kind, identity in self._notes.found:  # grows while notes have notes
            note = roots[kind].get(identity)
            if note is None:
                continue
            runs = self._new_runs(self._package.relations(parts[kind]))
            text = " ".join(self._texts(note, runs)).strip()
            if kind == "comment":
                words, author = self._notes.commented.get(identity), note.get("author")
                text = (
                    "Comment"
                    + (f" by {author}" if author else "")
                    + (f" on “{words}”" if words else "")
                    + f": {text}"
                )
            yield f"[^{self._notes.name(kind, identity)}]: {text}"

    def _texts(self, element: Iterable[Element], runs: Runs) -> Iterator[str]:
        return (text for text, _ in self._blocks(element, runs) if text)

    def _blocks(self, elements: Iterable[Element], runs: Runs) -> Iterator[tuple[str, bool]]:
        """Return the texts of paragraphs and tables, and whether each is an item of a list."""
        before = ""
        for element in self._flat(elements):
            if element.tag == "w-tbl":
                yield self._table(element, runs), False
            elif element.tag == "w-altChunk":
                yield self._chunk(element, runs.relations), False
            elif _goes_on(element):
                before += runs.text(element, _style(element))
            else:
                yield self._paragraph(element, runs, before)
                before = ""
        yield before.strip(), False

    def _flat(self, elements: Iterable[Element]) -> Iterator[Element]:
        for element in elements:
            if element.tag in ("w-p", "w-tbl", "w-altChunk"):
                yield element
            elif element.tag in HOLDERS:
                yield from self._flat(element)
            elif element.tag == "mc-AlternateContent":
                yield from self._flat(alternative(element))
            elif element.tag == "m-oMathPara":
                holder = Element("w-p")
                holder.append(element)
                yield holder

    def _chunk(self, element: Element, relations: dict[str, Relation]) -> str:
        """Return the text of another file that Word shows here, as converters from HTML have it."""
        found = relations.get(element.get("r-id", ""))
        content = self._package.content(found.target) if found else b""
        if not content:
            return ""
        from .documents import pages_of

        if content.startswith(RTF):
            return "[a part in RTF that could not be read]"
        reader = next((reader for mark, reader in CHUNKS if mark.match(content[:CHUNK_HEAD_BYTES])), "text")
        return "\n\n".join(pages_of(reader, content, 1)[1])

    def _paragraph(self, element: Element, runs: Runs, before: str) -> tuple[str, bool]:
        properties, style = element.find("w-pPr"), _style(element)
        text = (before + runs.text(element, style)).strip(" \n")
        if not text.strip():
            return "", False
        numbered = self._numbering.label(properties, style)
        heading = self._styles.heading(properties, style)
        level, label = numbered or (0, "")
        text = f"{label} {text}" if label else text
        if heading:
            return f"{'#' * min(heading, MAX_HEADING)} {' '.join(text.split())}", False
        return (LIST_INDENT * level + text, True) if numbered else (text, False)

    def _table(self, table: Element, runs: Runs) -> str:
        rows = [row for each in _held(table, "w-tr") if (row := self._row(each, runs)) is not None]
        width = max((sum(span for _, span, _ in row) for row in rows), default=0)
        if width == 1 and len(rows) == 1:
            return rows[0][0][0].replace("<br>", "\n\n")  # a frame
        lines: list[list[str]] = []
        for row in rows:
            cells: list[str] = []
            for text, span, goes_on in row:
                if goes_on and lines and len(cells) < len(lines[-1]):
                    text = lines[-1][len(cells)]
                cells += [text] + [text if span < width else ""] * (span - 1)
            lines.append(cells + [""] * (width - len(cells)))
        return markdown_table(lines)

    def _row(self, row: Element, runs: Runs) -> list[tuple[str, int, bool]] | None:
        """Return the cells: text, columns, and whether it continues the one above. None for a deleted row."""
        properties = row.find("w-trPr")
        if properties is not None and (
            properties.find("w-del") is not None or is_on(properties.find("w-hidden"))
        ):
            return None
        skipped = value(properties.find("w-gridBefore")) if properties is not None else ""
        cells = [("", int(skipped), False)] if skipped.isdigit() and skipped != "0" else []
        for cell in _held(row, "w-tc"):
            own = cell.find("w-tcPr")
            if own is not None and own.find("w-cellDel") is not None:
                continue
            span = value(own.find("w-gridSpan")) if own is not None else ""
            merged = own.find("w-vMerge") if own is not None else None
            goes_on = merged is not None and value(merged, "continue") == "continue"
            text = "<br>".join(self._cell(cell, runs))
            cells.append((text, int(span) if span.isdigit() else 1, goes_on))
        return cells or None

    def _cell(self, cell: Element, runs: Runs) -> Iterator[str]:
        for text, _ in self._blocks(cell, runs):
            if text.startswith("| ") and "\n| --- |" in f"{text[:9_999]}\n":  # a table inside
                text = "\n".join(
                    line.strip("| ").replace(" | ", "; ")
                    for line in text.split("\n")
                    if "| --- |" not in line
                )
            if text.strip():
                yield text.strip().replace("|", r"\|").replace("\n", "<br>")


def _goes_on(paragraph: Element) -> bool:
    """Return True if the next paragraph goes on: the end of this one is deleted, or it is a large initial."""
    frame = paragraph.find("w-pPr/w-framePr")
    initial = frame is not None and frame.get("dropCap", "none") != "none"
    return initial or paragraph.find("w-pPr/w-rPr/w-del") is not None


def _style(paragraph: Element) -> str:
    return value(paragraph.find("w-pPr/w-pStyle"))


def _held(element: Element, tag: str) -> Iterator[Element]:
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in ROW_HOLDERS:
            yield from _held(child, tag)


def _with_lists(blocks: Iterable[tuple[str, bool]]) -> Iterator[str]:
    """Return the blocks, the items of a list as one."""
    items: list[str] = []
    for text, is_item in blocks:
        if is_item:
            items.append(text)
        elif text:
            if items:
                yield "\n".join(items)
            items = []
            yield text
    yield "\n".join(items)
