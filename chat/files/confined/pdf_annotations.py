"""Notes, marks, links and attached files of a page of a PDF."""

import ctypes
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .pdf_fields import Field, place_of
from .pdf_text import Box, PageText, text_of
from .web_page import html_text

MAX_ANNOTATIONS = 2_000  # of a page
HIDDEN = 1 << 1 | 1 << 5  # flags: hidden, not shown
MAX_ADDRESS_BYTES = 2_000
ADDRESS = re.compile(r"(?:https?|ftp)://\S+|(?:mailto|tel):\S+", re.IGNORECASE)
SCHEME = re.compile(r"(?:https?://(?:www\.)?|mailto:|tel:)", re.IGNORECASE)
# Numbers of FPDFAnnot_GetSubtype, which PDF 32000-1, 12.5.6 explains.
NOTE, LINK, TYPED, STAMP, POPUP, FILE, FIELD = 1, 2, 3, 13, 16, 17, 20
MARKS = {9: "Highlighted", 10: "Underlined", 11: "Underlined", 12: "Struck out"}


class Annotations:
    """`insertions`: what stands behind characters of the page. `notes`: what has no place in its text."""

    def __init__(self, document: Any, page: Any, text: PageText) -> None:
        from pypdfium2 import raw

        self._raw, self._document, self._text = raw, document, text
        self.insertions: dict[int, str] = {}
        self.notes: list[str] = []
        self._links: list[tuple[str, list[int]]] = []
        for number in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
            annotation = raw.FPDFPage_GetAnnot(page, number)
            if annotation and not raw.FPDFAnnot_GetFlags(annotation) & HIDDEN:
                self._read(annotation)
            if annotation:
                raw.FPDFPage_CloseAnnot(annotation)
        self._add_links()

    def _read(self, annotation: Any) -> None:
        kind = self._raw.FPDFAnnot_GetSubtype(annotation)
        if kind == FIELD:
            self._add_field(annotation)
        elif kind == LINK:
            self._links += self._link(annotation)
        elif kind == FILE:
            name = text_of(
                self._raw.FPDFAttachment_GetName, self._raw.FPDFAnnot_GetFileAttachment(annotation)
            )
            self.notes.append(f"[Attached file: {name}]")
        elif kind != POPUP:
            self._add_note(kind, annotation)

    def _add_note(self, kind: int, annotation: Any) -> None:
        comment = self._string(annotation, "Contents")
        if not comment and (rich := self._string(annotation, "RC")):
            comment = html_text(rich)
        if kind in MARKS:
            words = self._text.words(
                {each for box in self._boxes(annotation) for each in self._text.inside(box)}
            )
            if words or comment:
                self.notes.append(
                    f"[{MARKS[kind]}: “{words}”{f', {comment}' if comment not in ('', words) else ''}]"
                )
            return
        if kind == STAMP:
            comment = comment or self._string(annotation, "Subj") or self._string(annotation, "Name")
        if comment:
            author = self._string(annotation, "T") if kind == NOTE else ""
            label = {TYPED: "Typed", STAMP: "Stamp"}.get(kind, "Note")
            self.notes.append(f"[{label}{f' by {author}' if author else ''}: {comment}]")

    def _add_field(self, annotation: Any) -> None:
        form = self._document.formenv
        field = Field.read(form.raw, annotation, self._box(annotation)) if form else None
        if not field:
            return
        place = place_of(field, self._text)
        if place is None:
            if field.is_set:
                self.notes.append(f"[{field.name}: {field.value}]")
        elif field.is_button:
            self._insert(place, f"{field.value} " if self._begins(place) else f" {field.value}")
        elif field.value:
            has_mark = place >= 0 and not (self._text.characters[place].isalnum() or place in self.insertions)
            self._insert(
                place, f"{'' if has_mark else ';' if place in self.insertions else ':'} {field.value}"
            )

    def _begins(self, place: int) -> bool:
        """Return True if what follows this character begins a word."""
        return place < 0 or self._text.characters[place].isspace()

    def _insert(self, place: int, text: str) -> None:
        self.insertions[place] = self.insertions.get(place, "") + text

    def _link(self, annotation: Any) -> Iterator[tuple[str, list[int]]]:
        """Return the address of a link, and the numbers of its characters."""
        raw, document = self._raw, self._document.raw
        action = raw.FPDFLink_GetAction(raw.FPDFAnnot_GetLink(annotation))
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            return
        size = raw.FPDFAction_GetURIPath(document, action, None, 0)
        if not 1 < size <= MAX_ADDRESS_BYTES:
            return
        buffer = ctypes.create_string_buffer(size)
        raw.FPDFAction_GetURIPath(document, action, buffer, size)
        address = buffer.value.decode("utf-8", "replace").strip()
        if ADDRESS.fullmatch(address):
            boxes = self._boxes(annotation)
            yield address, sorted({each for box in boxes for each in self._text.whole_words(box)})

    def _add_links(self) -> None:
        """Put each address behind its words; once if they are in several lines."""
        links = sorted(self._links, key=lambda link: link[1][:1])
        for (address, numbers), (following, others) in pairwise([*links, ("", [])]):
            if not numbers:
                self.notes.append(f"[Link: {address}]")
                continue
            if following == address and others and others[0] - numbers[-1] <= 3:
                continue
            end, characters = numbers[-1], self._text.characters
            shown = SCHEME.sub("", address).rstrip("/")
            if shown not in "".join("".join(characters[numbers[0] : end + 1]).split()):
                self._insert(end, f" ({re.sub('^(?:mailto|tel):', '', address)})")

    def _string(self, annotation: Any, key: str) -> str:
        return text_of(self._raw.FPDFAnnot_GetStringValue, annotation, key.encode())

    def _box(self, annotation: Any) -> Box:
        rectangle = self._raw.FS_RECTF()
        self._raw.FPDFAnnot_GetRect(annotation, rectangle)
        return self._text.shown(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)

    def _boxes(self, annotation: Any) -> list[Box]:
        """Return where the words of a mark or of a link are: a rectangle for each line."""
        raw = self._raw
        quad = raw.FS_QUADPOINTSF()
        boxes = []
        for number in range(min(raw.FPDFAnnot_CountAttachmentPoints(annotation), MAX_ANNOTATIONS)):
            if raw.FPDFAnnot_GetAttachmentPoints(annotation, number, quad):
                across, up = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
                boxes.append(self._text.shown(min(across), min(up), max(across), max(up)))
        return boxes or [self._box(annotation)]


def attached_files(document: Any) -> Iterator[str]:
    """Return the names of the files that are attached to the document."""
    for number in range(document.count_attachments()):
        yield f"[Attached file: {document.get_attachment(number).get_name()}]"
