"""The text of Word, Excel and PowerPoint files, as Markdown."""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Literal

from .old_workbook import old_workbook_pages
from .problem import Problem
from .slides import slide_pages
from .word import word_text
from .workbook import workbook_pages

Form = Literal["docx", "xlsx", "pptx", "doc", "xls", "ppt"]
MAX_UNPACKED_BYTES = 300_000_000  # of all parts of an Office file together
MAX_PARTS = 20_000
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OOXML_FOLDERS: dict[str, Form] = {"word/": "docx", "xl/": "xlsx", "ppt/": "pptx"}
# The names of streams in the older, OLE container, in lower case.
OLE_STREAMS: dict[str, Form] = {"worddocument": "doc", "workbook": "xls", "powerpoint document": "ppt"}
ENCRYPTED_STREAM, OUTLOOK_STREAM = "encryptedpackage", "__properties_version1.0"
CONTENT_TYPES = "[Content_Types].xml"
PAGE_HEADING = re.compile(r"^## .*", re.MULTILINE)


def office_form(content: bytes) -> Form:
    """Return "docx", "xlsx", "pptx", "doc", "xls" or "ppt", by what the container holds."""
    if content.startswith(OLE_SIGNATURE):
        names = content.lower()
        if ENCRYPTED_STREAM.encode("utf-16-le") in names:
            raise Problem("encrypted")
        if OUTLOOK_STREAM.encode("utf-16-le") in names:
            raise Problem("outlook")
        for name, form in OLE_STREAMS.items():
            if name.encode("utf-16-le") in names:
                return form
        raise Problem("type")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
    if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
        raise Problem("long")
    paths = [part.filename for part in parts]
    if CONTENT_TYPES not in paths:
        raise Problem("type")
    for folder, form in OOXML_FOLDERS.items():
        if any(path.startswith(folder) for path in paths):
            return form
    raise Problem("savable")


def office_pages(content: bytes, form: Form) -> Iterable[str]:
    """Return the Markdown of the sheets or the slides, or of the whole document."""
    if form == "docx":
        return [word_text(content)]
    if form == "xlsx":
        return workbook_pages(content)
    if form == "pptx":
        return slide_pages(content)
    if form == "xls" and (pages := old_workbook_pages(content)) is not None:
        return pages
    import office_oxide

    with office_oxide.Document.from_bytes(content, form) as document:
        markdown = document.to_markdown()
        slides = document.to_ir()["sections"] if form == "ppt" else []
    if form == "xls":
        # Nothing else begins a line with this: cells stand in tables, comments in quotes.
        return parted(markdown, [found.start() for found in PAGE_HEADING.finditer(markdown)])
    return parted(markdown, list(slide_starts(markdown, slides)))


def slide_starts(markdown: str, slides: list[dict[str, Any]]) -> Iterator[int]:
    """Return where the slides begin: each with its title, or with its number if it has none."""
    position = 0
    for number, slide in enumerate(slides, 1):
        heading = f"## {slide.get('title') or f'Slide {number}'}"
        start = markdown.find(heading, position)
        if start >= 0:
            yield start
            position = start + len(heading)


def parted(text: str, starts: list[int]) -> list[str]:
    """Return the text in parts that begin at `starts`; what is before the first belongs to the first."""
    edges = [0, *starts[1:], len(text)]
    return [text[start:end] for start, end in pairwise(edges)]
