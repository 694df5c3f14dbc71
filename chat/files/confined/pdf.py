"""The text of a PDF, page by page, with what people have filled in, typed and marked."""

from collections.abc import Iterator
from typing import Any

from .page_notes import PICTURE_BESIDE, PICTURES_ONLY, UNREADABLE_ONLY
from .pdf_annotations import Annotations, attached_files
from .pdf_layers import leave_out_hidden
from .pdf_order import reading_order
from .pdf_scripts import write_scripts
from .pdf_text import UNREADABLE, PageText
from .pdf_xfa import xfa_text
from .problem import Problem

WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD
MAX_CAPTION_CHARACTERS = 60  # beside the picture of a page: a stamp, a page number
PICTURE_SHARE = 0.6  # of a page, at least
MIN_DRAWN_PATHS = 10  # that may be letters; fewer are a frame


def pdf_pages(content: bytes, max_pages: int) -> Iterator[str]:
    import pypdfium2

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
        yield (
            "\n\n".join(filter(None, (text, xfa_text(document), *attached_files(document))))
            if number == last
            else text
        )


def pdf_page(document: Any, number: int) -> str:
    """Return the text of a page; "" if this page alone is damaged."""
    import pypdfium2

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
            return UNREADABLE_ONLY
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
    from pypdfium2 import raw

    if len(text) > MAX_CAPTION_CHARACTERS:
        return text
    kinds = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH)
    objects = list(page.get_objects(filter=kinds, max_depth=3))
    pictures = [each for each in objects if each.type == raw.FPDF_PAGEOBJ_IMAGE]
    if not text.strip():
        return PICTURES_ONLY if pictures or len(objects) >= MIN_DRAWN_PATHS else text
    width, height = page.get_size()
    sizes = (_area(each) for each in pictures)
    return (
        f"{text}\n\n{PICTURE_BESIDE}"
        if any(size >= PICTURE_SHARE * width * height for size in sizes)
        else text
    )


def _area(picture: Any) -> float:
    left, bottom, right, top = picture.get_bounds()
    return float((right - left) * (top - bottom))
