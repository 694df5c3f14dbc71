"""The child process that takes the text of one document of unknown origin, see `process.py`.

Its arguments are READER MAX_PAGES MAX_CHARACTERS.

READER is "pdf", "office", "html", "mail", "notebook" or "text". It reads the file that is its standard input
and writes one object of JSON to its standard output: `form`, what the file was found to be ("pdf", "docx",
…), and `pages`, their texts; or `problem`: "type", "encoding", "encrypted", "pages", "long", "empty" or
"broken".
"""

import json
import re
import sys
from collections.abc import Iterable
from typing import Any

from .problem import WITHOUT_TEXT, Problem
from .text_encoding import decoded

# U+0002 and U+FFFE: written by PDFium where a word was divided at the end of a line.
SOFT_HYPHENS = re.compile("\xad|[\x02\ufffe]\r?\n?")
UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
BLANK_LINES = re.compile(r"\n{3,}")


def pages_of(reader: str, content: bytes, max_pages: int) -> tuple[str, Iterable[str]]:
    """Return the form of the document, and the texts of its pages. Raises Problem and what parsers raise.

    Each reader is imported where it is needed, since a child reads one document.
    """
    if reader == "pdf":
        from .pdf import pdf_pages

        return "pdf", pdf_pages(content, max_pages)
    if reader == "office":
        from .office import office_form, office_pages

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


def main() -> None:
    reader, max_pages, max_characters = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    described: dict[str, Any]
    try:
        form, pages = pages_of(reader, sys.stdin.buffer.read(), max_pages)
        described = {"form": form, "pages": limited(pages, max_pages, max_characters)}
    except Problem as problem:
        described = {"problem": str(problem)}
    except Exception:  # whatever a parser raises for bytes that it did not expect
        described = {"problem": "broken"}
    sys.stdout.buffer.write(json.dumps(described, ensure_ascii=False).encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
