"""The fields of forms in a PDF: what they hold, and the words beside them that say what that is."""

from dataclasses import dataclass
from typing import Any

from .pdf_text import Box, PageText, text_of

CHECKBOX, RADIO, COMBO, LIST, TEXT, SIGNATURE = 2, 3, 4, 5, 6, 7  # of FPDFAnnot_GetFormFieldType
PASSWORD = 1 << 13  # flag of a text field
MAX_OPTIONS = 1_000
LABEL_POINTS = 250  # between a field and its label beside it, at most
ABOVE = 2  # between a field and the label above it, at most, in heights of the label
TOLERANCE_POINTS = 2


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
        from pypdfium2 import raw

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
    near_by = [each for line, extent in text.lines if _is_near(extent, field.box) for each in line]
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


def _is_near(extent: Box, box: Box) -> bool:
    return extent.top > box.bottom and extent.bottom < box.top + ABOVE * extent.height


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
