"""Notes, marks, links, attached files and fields of forms on a page of a PDF."""

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pypdfium2 import raw

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
CHECKBOX, RADIO, COMBO, LIST, SIGNATURE = 2, 3, 4, 5, 7  # of FPDFAnnot_GetFormFieldType
PASSWORD = 1 << 13  # flag of a text field
MAX_OPTIONS = 1_000
LABEL_POINTS = 250  # between a field and its label beside it, at most
ABOVE = 2  # between a field and the label above it, at most, in heights of the label
TOLERANCE_POINTS = 2


class Annotations:
    """`insertions`: what stands behind characters of the page. `notes`: what has no place in its text."""

    def __init__(self, document: Any, page: Any, text: PageText) -> None:
        self._document, self._text = document, text
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
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        if kind == FIELD:
            self._add_field(annotation)
        elif kind == LINK:
            self._links += self._link(annotation)
        elif kind == FILE:
            name = text_of(raw.FPDFAttachment_GetName, raw.FPDFAnnot_GetFileAttachment(annotation))
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
            begins = place < 0 or self._text.characters[place].isspace()  # a word, behind it
            self._insert(place, f"{field.value} " if begins else f" {field.value}")
        elif field.value:
            has_mark = place >= 0 and not (self._text.characters[place].isalnum() or place in self.insertions)
            self._insert(
                place, f"{'' if has_mark else ';' if place in self.insertions else ':'} {field.value}"
            )

    def _insert(self, place: int, text: str) -> None:
        self.insertions[place] = self.insertions.get(place, "") + text

    def _link(self, annotation: Any) -> Iterator[tuple[str, list[int]]]:
        """Return the address of a link, and the numbers of its characters."""
        document = self._document.raw
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
        return text_of(raw.FPDFAnnot_GetStringValue, annotation, key.encode())

    def _box(self, annotation: Any) -> Box:
        rectangle = raw.FS_RECTF()
        raw.FPDFAnnot_GetRect(annotation, rectangle)
        return self._text.shown(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)

    def _boxes(self, annotation: Any) -> list[Box]:
        """Return where the words of a mark or of a link are: a rectangle for each line."""
        quad = raw.FS_QUADPOINTSF()
        boxes = []
        for number in range(min(raw.FPDFAnnot_CountAttachmentPoints(annotation), MAX_ANNOTATIONS)):
            if raw.FPDFAnnot_GetAttachmentPoints(annotation, number, quad):
                across, up = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
                boxes.append(self._text.shown(min(across), min(up), max(across), max(up)))
        return boxes or [self._box(annotation)]


def attached_files(document: Any) -> Iterator[str]:
    for number in range(document.count_attachments()):
        yield f"[Attached file: {document.get_attachment(number).get_name()}]"


@dataclass(frozen=True, slots=True)
class Field:
    """`name`: for people, if the author of the form has given one. `value`: "" if it is empty."""

    name: str
    value: str
    is_button: bool  # a checkbox or a radio button
    is_set: bool
    box: Box

    @classmethod
    def read(cls, form: Any, annotation: Any, box: Box) -> "Field | None":
        kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
        if not CHECKBOX <= kind <= SIGNATURE:
            return None
        name = text_of(raw.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
        name = name or text_of(raw.FPDFAnnot_GetFormFieldName, form, annotation)
        value = text_of(raw.FPDFAnnot_GetFormFieldValue, form, annotation)
        if kind in (CHECKBOX, RADIO):
            is_set = bool(raw.FPDFAnnot_IsChecked(form, annotation))
            # Programs that fill in forms often set the value alone, not the state of its appearance.
            written = text_of(raw.FPDFAnnot_GetStringValue, annotation, b"V")
            export = text_of(raw.FPDFAnnot_GetFormFieldExportValue, form, annotation)
            is_set |= written not in ("", "Off") and (kind == CHECKBOX or written == export)
            return cls(name, "[x]" if is_set else "[ ]", True, is_set, box)
        if kind in (COMBO, LIST):
            count = min(raw.FPDFAnnot_GetOptionCount(form, annotation), MAX_OPTIONS)
            chosen = [each for each in range(count) if raw.FPDFAnnot_IsOptionSelected(form, annotation, each)]
            labels = (text_of(raw.FPDFAnnot_GetOptionLabel, form, annotation, each) for each in chosen)
            value = ", ".join(labels) or value
        elif kind == SIGNATURE:
            value = "signed" if raw.FPDFAnnot_HasKey(annotation, b"V") else ""
        elif raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & PASSWORD:
            value = ""
        return cls(name, value, False, bool(value), box)


def place_of(field: Field, text: PageText) -> int | None:
    """Return the number of the character behind which the value stands; -1 is in front of all.

    That is at the end of the words inside the field, or to its left; for a button also in front of those to
    its right, if they are nearer; else at the end of the words above it.
    """
    near_by = [
        each
        for line, extent in text.lines
        if extent.top > field.box.bottom and extent.bottom < field.box.top + ABOVE * extent.height
        for each in line
    ]
    shown = [number for number in near_by if not text.characters[number].isspace()]
    inside = [number for number in shown if field.box.holds(text.box(number).middle)]
    if inside and not field.is_button:
        end = inside[-1]
        while text.characters[end : end + 2] == ["_", "_"]:  # a line to write on
            end += 1
        return end
    beside = [number for number in shown if text.box(number).shares_line(field.box)]
    left = [(field.box.left - text.box(each).right, each) for each in beside]
    right = [(text.box(each).left - field.box.right, each) for each in beside] if field.is_button else []
    near = [each for each in left if -TOLERANCE_POINTS <= each[0] <= LABEL_POINTS]
    after = [each for each in right if -TOLERANCE_POINTS <= each[0] <= LABEL_POINTS]
    if after and (not near or min(after)[0] <= min(near)[0]):
        return min(after)[1] - 1
    return min(near)[1] if near else _above(field.box, shown, text)


def _above(box: Box, shown: list[int], text: PageText) -> int | None:
    over = [
        number
        for number in shown
        if text.box(number).left < box.right
        and text.box(number).right > box.left
        and box.bottom <= text.box(number).bottom < box.top + ABOVE * text.box(number).height
    ]
    if not over:
        return None
    lowest = min(over, key=lambda number: text.box(number).bottom)
    line = [number for number in over if text.box(number).shares_line(text.box(lowest))]
    end = max(line, key=lambda number: text.box(number).right)
    characters = text.characters
    while end + 1 < len(characters) and not characters[end + 1].isspace():
        end += 1
    return end
