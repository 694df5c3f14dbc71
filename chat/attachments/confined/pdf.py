"""The text of a PDF, page by page."""

from collections.abc import Iterator
from typing import Any

from .problem import Problem

WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD


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
    for number in range(len(document)):
        yield pdf_page(document, number)


def pdf_page(document: Any, number: int) -> str:
    """Return the text of a page; "" if this page alone is damaged."""
    import pypdfium2

    try:
        page = document[number]
        text = page.get_textpage()
    except pypdfium2.PdfiumError:
        return ""
    try:
        found: str = text.get_text_range()
    finally:
        text.close()
        page.close()
    return found
