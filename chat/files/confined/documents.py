"""The child process that takes the text of one document of unknown origin, see `process.py`.

Its arguments are READER MAX_PAGES MAX_CHARACTERS.

READER is "pdf", "office", "html", "mail", "notebook" or "text". It reads the file that is its standard input
and writes one object of JSON to its standard output: `form`, what the file was found to be ("pdf", "docx",
…), and `pages`, their texts; or `problem`: "type", "encoding", "encrypted", "pages", "long", "empty",
"savable", "outlook" or "broken".
"""

import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, Literal

from .problem import WITHOUT_TEXT, Problem
from .text_encoding import decoded

# U+0002 and U+FFFE: written by PDFium where a word was divided at the end of a line.
SOFT_HYPHENS = re.compile("\xad|[\x02\ufffe]\r?\n?")
UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
BLANK_LINES = re.compile(r"\n{3,}")
Form = Literal["docx", "xlsx", "pptx", "doc", "xls", "ppt"]
MAX_UNPACKED_BYTES = 300_000_000  # of all parts of an Office file together
MAX_PARTS = 20_000
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OOXML_FOLDERS: dict[str, Form] = {"word/": "docx", "xl/": "xlsx", "ppt/": "pptx"}
# The names of streams in the older, OLE container, in lower case.
OLE_STREAMS: dict[str, Form] = {"worddocument": "doc", "workbook": "xls", "powerpoint document": "ppt"}
OLE_PROBLEMS = {"encryptedpackage": "encrypted", "__properties_version1.0": "outlook"}
CONTENT_TYPES = "[Content_Types].xml"
PAGE_HEADING = re.compile(r"^## .*", re.MULTILINE)


def pages_of(reader: str, content: bytes, max_pages: int) -> tuple[str, Iterable[str]]:
    """Return the form of the document, and the texts of its pages. Raises Problem and what parsers raise.

    Each reader is imported where it is needed, since a child reads one document.
    """
    if reader == "pdf":
        from .pdf import pdf_pages

        return "pdf", pdf_pages(content, max_pages)
    if reader == "office":
        form = office_form(content)
        return form, office_pages(content, form)
    if reader == "mail":
        from .mail import mail_pages

        return reader, mail_pages(content)
    text = decoded(content)
    if reader == "html":
        from .web_page import html_text

        text = html_text(text)
    elif reader == "notebook":
        from .notebook import notebook_text

        text = notebook_text(text) or text
    return reader, [text]


def office_form(content: bytes) -> Form:
    if content.startswith(OLE_SIGNATURE):
        from .containers import Container

        text = content.lower()
        names = [name for name in (*OLE_PROBLEMS, *OLE_STREAMS) if name.encode("utf-16-le") in text]
        if len(names) > 1:  # some are of files inside, or of its text
            own = Container(content).names
            names = [name for name in names if name in own] or names
        if names and names[0] in OLE_STREAMS:
            return OLE_STREAMS[names[0]]
        raise Problem(OLE_PROBLEMS[names[0]] if names else "type")
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
        from .word import word_text

        return [word_text(content)]
    if form == "xlsx":
        from .workbook import workbook_pages

        return workbook_pages(content)
    if form == "pptx":
        from .slides import slide_pages

        return slide_pages(content)
    if form == "xls":
        from .old_workbook import old_workbook_pages

        if (pages := old_workbook_pages(content)) is not None:
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


def cleaned(text: str) -> str:
    """Return the text with line feeds alone, without control characters and superfluous blank lines."""
    text = LINE_ENDS.sub("\n", SOFT_HYPHENS.sub("", text))
    lines = UNWANTED.sub("", text).split("\n")
    return BLANK_LINES.sub("\n\n", "\n".join(line.rstrip(" \t\xa0") for line in lines)).strip("\n")


def limited(pages: Iterable[str], max_pages: int, max_characters: int) -> list[str]:
    """Return the cleaned pages. Raises Problem if they are too many or too long, or hold no text."""
    found: list[str] = []
    for page in pages:
        found.append(cleaned(page))
        max_characters -= len(found[-1])
        if max_characters < 0:
            raise Problem("long")
        if len(found) > max_pages:
            raise Problem("pages")
    if all(page.strip() in WITHOUT_TEXT for page in found):
        raise Problem("empty")
    return found


def answer(describe: Callable[[], dict[str, Any]]) -> None:
    """Write what `describe` returns to the standard output as JSON, or the problem that it meets."""
    try:
        told = describe()
    except Problem as problem:
        told = {"problem": str(problem)}
    except Exception:  # whatever a parser raises for bytes that it did not expect
        told = {"problem": "broken"}
    sys.stdout.buffer.write(json.dumps(told, ensure_ascii=False).encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def main() -> None:
    answer(_described)


def _described() -> dict[str, Any]:
    reader, max_pages, max_characters = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    form, pages = pages_of(reader, sys.stdin.buffer.read(), max_pages)
    return {"form": form, "pages": limited(pages, max_pages, max_characters)}
