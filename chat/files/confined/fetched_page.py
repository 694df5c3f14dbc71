"""The child process that takes the text of one page of the web, see `process.py`.

    READER

READER is one of those of `documents.py`. Its standard input is a line of JSON, with the `address` of the page
and the `charset` that the server named, and then the page. It writes one object of JSON to its standard
output: `title`, `date`, `text`, `links` and `is_cut`; or `problem`, as `documents.py` has it.
"""

import json
import re
import sys
from collections.abc import Iterable
from typing import Any

from .documents import answer, cleaned, pages_of
from .problem import WITHOUT_TEXT, Problem
from .text_encoding import decoded

MAX_PAGES = 10_000  # of which only the first are read
MAX_TEXT_BYTES = 100_000
MAX_TITLE_CHARACTERS = 300
HEADING = re.compile(r"#{1,6} (.+)")


def described(reader: str, content: bytes, address: str, charset: str) -> dict[str, Any]:
    if reader == "html":
        from .main_content import page_of

        page = page_of(decoded(content, charset), address)
        text, is_cut = shortened([page.text])
        told = {"title": title_of(page.title or first_heading(text)), "date": page.date, "links": page.links}
    else:
        pages = [decoded(content, charset)] if reader == "text" else pages_of(reader, content, MAX_PAGES)[1]
        text, is_cut = shortened(pages)
        told = {"title": title_of(first_heading(text)), "date": "", "links": []}
    if text.strip() in WITHOUT_TEXT:
        raise Problem("empty")
    return {**told, "text": text, "is_cut": is_cut}


def shortened(pages: Iterable[str]) -> tuple[str, bool]:
    """Return the beginning of the cleaned text, and whether more follows. Pages after it are not read."""
    parts: list[str] = []
    size = 0
    for page in pages:
        parts.append(cleaned(page))
        size += len(parts[-1].encode("utf-8", "replace")) + 2
        if size > MAX_TEXT_BYTES:
            break
    whole = "\n\n".join(filter(None, parts)).encode("utf-8", "replace")
    return whole[:MAX_TEXT_BYTES].decode("utf-8", "ignore"), len(whole) > MAX_TEXT_BYTES


def first_heading(text: str) -> str:
    found = HEADING.match(text.lstrip())
    return found[1] if found else ""


def title_of(text: str) -> str:
    return " ".join(cleaned(text).split())[:MAX_TITLE_CHARACTERS]


def main() -> None:
    answer(_described)


def _described() -> dict[str, Any]:
    head, _, content = sys.stdin.buffer.read().partition(b"\n")
    named = json.loads(head)
    return described(sys.argv[1], content, named["address"], named["charset"])
