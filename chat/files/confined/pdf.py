"""The text of a PDF, page by page, with what people have filled in, typed and marked."""

import ctypes
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pypdfium2
from pypdfium2 import raw

from .pdf_annotations import Annotations, attached_files
from .pdf_order import reading_order
from .pdf_pieces import write_scripts
from .pdf_text import UNREADABLE, PageText
from .problem import PICTURE_BESIDE, PICTURES_ONLY, UNREADABLE_ONLY, Problem

WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD
MAX_CAPTION_CHARACTERS = 60  # beside the picture of a page: a stamp, a page number
PICTURE_SHARE = 0.6  # of a page, at least
MIN_DRAWN_PATHS = 10  # that may be letters; fewer are a frame
MAX_LAYERS = 50  # of a page; more are taken as shown
SIDE_PIXELS = 600
MARK = "OC"
MAX_BYTES = 20_000_000


def pdf_pages(content: bytes, max_pages: int) -> Iterator[str]:
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        raise Problem(
            "encrypted" if getattr(error, "err_code", None) == WRONG_PASSWORD else "broken"
        ) from None
    if len(document) > max_pages:
        raise Problem("pages")
    document.init_forms()
    last = len(document) - 1
    for number in range(last + 1):
        text = pdf_page(document, number)
        if number == last:
            text = "\n\n".join(filter(None, (text, xfa_text(document), *attached_files(document))))
        yield text


def pdf_page(document: Any, number: int) -> str:
    """Return the text of a page; "" if this page alone is damaged."""
    try:
        page = document[number]
        leave_out_hidden(document, number, page)
        handle, text = _upright(page)
    except pypdfium2.PdfiumError:
        return ""
    try:
        write_scripts(text)
        annotations = Annotations(document, page, text)
        if _is_unreadable(text):
            values = (each.strip(" :;") for each in annotations.insertions.values())
            filled = (each for each in values if each.replace("[ ]", "").strip())
            return "\n\n".join((UNREADABLE_ONLY, *filled, *annotations.notes))
        body = text.joined(reading_order(text), annotations.insertions)
        found = "\n\n".join(filter(None, (body, *annotations.notes)))
        return _with_picture(page, found)
    finally:
        handle.close()
        page.close()


def _upright(page: Any) -> tuple[Any, PageText]:
    """Return PDFium's handle of the text, and the text; lines are told by the rotation of the page."""
    handle = page.get_textpage()
    text = PageText(handle)
    if page.get_rotation() == 90 * text.turns:
        return handle, text
    handle.close()
    page.set_rotation(90 * text.turns)
    handle = page.get_textpage()
    return handle, PageText(handle)


def _is_unreadable(text: PageText) -> bool:
    """Return True if no font of the page tells its letters."""
    found = {character for character in text.characters if not character.isspace()}
    return found == {UNREADABLE}


def _with_picture(page: Any, text: str) -> str:
    """Return the text, and that a page without any, or nearly so, is a picture."""
    if len(text) > MAX_CAPTION_CHARACTERS:
        return text
    kinds = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH)
    objects = list(page.get_objects(filter=kinds, max_depth=3))
    pictures = [each for each in objects if each.type == raw.FPDF_PAGEOBJ_IMAGE]
    if not text.strip():
        return PICTURES_ONLY if pictures or len(objects) >= MIN_DRAWN_PATHS else text
    width, height = page.get_size()
    is_large = any(_area(each) >= PICTURE_SHARE * width * height for each in pictures)
    return f"{text}\n\n{PICTURE_BESIDE}" if is_large else text


def _area(picture: Any) -> float:
    left, bottom, right, top = picture.get_bounds()
    return float((right - left) * (top - bottom))


def leave_out_hidden(document: Any, number: int, page: Any) -> None:
    """Remove from the page, of this number, what a viewer does not show: optional content, PDF 32000-1, 8.11.

    PDFium takes text from all layers and has no function that tells their state, but draws only those that
    are switched on. So each layer is drawn alone: one that is seen only without its mark is hidden.
    """
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
    if raw.FPDFPageObj_GetType(each) not in (raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_FORM):
        return None
    marks = _marks(each)
    names = (_string(raw.FPDFPageObjMark_GetParamStringValue, mark, b"Name") for mark in marks)
    return "\n".join(names) if marks else None


def _marks(each: Any) -> list[Any]:
    marks = [raw.FPDFPageObj_GetMark(each, place) for place in range(raw.FPDFPageObj_CountMarks(each))]
    return [mark for mark in marks if _string(raw.FPDFPageObjMark_GetName, mark) == MARK]


def _is_seen_unmarked(page: Any, objects: list[Any]) -> bool:
    """Return False for what is seen in no layer, such as the recognized words of a scan."""
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
    buffer, size = ctypes.create_string_buffer(512), ctypes.c_ulong()
    if not function(*arguments, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), 512, size):
        return ""
    return buffer.raw[: min(size.value, 512)].decode("utf-16-le", "replace").rstrip("\0")


def xfa_text(document: Any) -> str:
    """Return the words of a form in XFA in their order, each field with its value; "" for other documents.

    Of its pages PDFium shows only the request to wait.
    """
    if document.get_formtype() != raw.FORMTYPE_XFA_FULL:
        return ""
    try:
        root = ElementTree.fromstring(b"".join(_packets(document)))  # noqa: S314 (Expat limits entities)
    except ElementTree.ParseError:
        return ""
    values: dict[str, list[str]] = {}
    for data in (each for each in root.iter() if _name(each) == "data"):
        for leaf in (each for each in data.iter() if not len(each) and (each.text or "").strip()):
            values.setdefault(_name(leaf), []).append((leaf.text or "").strip())
    lines = [line for each in root if _name(each) == "template" for line in _template(each, values)]
    rest = (f"{name}: {value}" for name, found in values.items() for value in found)
    return "\n".join([*lines, *rest])


def _packets(document: Any) -> Iterator[bytes]:
    for number in range(raw.FPDF_GetXFAPacketCount(document)):
        size = ctypes.c_ulong()
        raw.FPDF_GetXFAPacketContent(document, number, None, 0, size)
        if 0 < size.value <= MAX_BYTES:
            buffer = ctypes.create_string_buffer(size.value)
            raw.FPDF_GetXFAPacketContent(document, number, buffer, size.value, size)
            yield buffer.raw


def _template(element: Element, values: dict[str, list[str]]) -> Iterator[str]:
    for child in element:
        kind = _name(child)
        if kind == "draw":
            yield from filter(None, [_words(child)])
        elif kind == "field":
            label = " ".join(_words(each) for each in child if _name(each) == "caption")
            found = values.get(child.get("name", ""), [])
            value = found.pop(0) if found else ""
            yield from filter(None, [f"{label}: {value}" if label and value else label or value])
        else:
            yield from _template(child, values)


def _words(element: Element) -> str:
    return " ".join(" ".join(element.itertext()).split())


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]
