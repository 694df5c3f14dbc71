"""Layers of a page that a viewer does not show (optional content, PDF 32000-1, 8.11): their text is left out.

PDFium takes text from all layers and has no function that tells their state, but draws only those that are
switched on. So each layer is drawn alone: one that is seen only without its mark is hidden.
"""

import ctypes
from typing import Any

MAX_LAYERS = 50  # of a page; more are taken as shown
SIDE_PIXELS = 600
MARK = "OC"


def leave_out_hidden(document: Any, number: int, page: Any) -> None:
    """Remove the objects of hidden layers from the page, which is that of this number."""
    from pypdfium2 import raw

    layers: dict[str, list[int]] = {}
    count = raw.FPDFPage_CountObjects(page)
    for place in range(count):
        layer = _layer(raw.FPDFPage_GetObject(page, place))
        if layer is not None:
            layers.setdefault(layer, []).append(place)
    if not 0 < len(layers) <= MAX_LAYERS:
        return
    probe = document[number]  # has objects of its own
    objects = [raw.FPDFPage_GetObject(probe, place) for place in range(count)]
    for each in objects:
        raw.FPDFPageObj_SetIsActive(each, False)
    hidden: list[int] = []
    for places in layers.values():
        alone = [objects[place] for place in places]
        for each in alone:
            raw.FPDFPageObj_SetIsActive(each, True)
        if not _is_seen(probe) and _is_seen_unmarked(probe, alone):
            hidden += places
        for each in alone:
            raw.FPDFPageObj_SetIsActive(each, False)
    probe.close()
    for place in sorted(hidden, reverse=True):
        raw.FPDFPage_RemoveObject(page, raw.FPDFPage_GetObject(page, place))


def _layer(each: Any) -> str | None:
    """Return what tells the layer of a text or a group of objects; None for those in none."""
    from pypdfium2 import raw

    if raw.FPDFPageObj_GetType(each) not in (raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_FORM):
        return None
    marks = _marks(each)
    names = (_string(raw.FPDFPageObjMark_GetParamStringValue, mark, b"Name") for mark in marks)
    return "\n".join(names) if marks else None


def _marks(each: Any) -> list[Any]:
    from pypdfium2 import raw

    marks = [raw.FPDFPageObj_GetMark(each, place) for place in range(raw.FPDFPageObj_CountMarks(each))]
    return [mark for mark in marks if _string(raw.FPDFPageObjMark_GetName, mark) == MARK]


def _is_seen_unmarked(page: Any, objects: list[Any]) -> bool:
    """Return False for what is seen in no layer, such as the recognized words of a scan."""
    from pypdfium2 import raw

    for each in objects:
        for mark in _marks(each):
            raw.FPDFPageObj_RemoveMark(each, mark)
    return _is_seen(page)


def _is_seen(page: Any) -> bool:
    scale = SIDE_PIXELS / max(*page.get_size(), 1)
    bitmap = page.render(
        scale=scale, fill_color=(0, 0, 0, 0), may_draw_forms=False, draw_annots=False, maybe_alpha=True
    )
    return any(bytes(bitmap.buffer))


def _string(function: Any, *arguments: Any) -> str:
    from pypdfium2 import raw

    buffer, size = ctypes.create_string_buffer(512), ctypes.c_ulong()
    if not function(*arguments, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), 512, size):
        return ""
    return buffer.raw[: min(size.value, 512)].decode("utf-16-le", "replace").rstrip("\0")
