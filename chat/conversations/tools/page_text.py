"""The text of a fetched page, taken by the confined child that reads documents."""

import json
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import IO, Annotated

import msgspec
from django.utils.translation import gettext as _

from chat.db.fair_executor import FairExecutor
from chat.files import document_types
from chat.files.confinement import ChildLimits, Crashed, Expired, TooMuchOutput, stream_confined
from chat.files.document_types import BY_EXTENSION, DOCUMENT_TYPES, PLAIN, TYPE_HEAD_BYTES
from chat.files.extraction import EXTRACTION_LIMITS, NOT_CLEAN
from chat.files.problems import UnconfinedFiles

from . import addresses
from .page_fetch import Fetched
from .tool import ToolFailed

PAGE_READER = "chat.files.confined.fetched_page"
READING_THREADS = 2
MAX_TEXT_BYTES = 100_000
MAX_TITLE_CHARACTERS = 300
MAX_LINKS = 1_000
# The text, in JSON, and the links.
LIMITS = ChildLimits(
    EXTRACTION_LIMITS["address_space_bytes"], cpu_seconds=5, wall_seconds=9, output_bytes=4_000_000
)
TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "application/x-ndjson")
HTML = ("text/html", "application/xhtml+xml")


class ChildOutput(msgspec.Struct):
    title: Annotated[str, msgspec.Meta(max_length=MAX_TITLE_CHARACTERS)] = ""
    date: Annotated[str, msgspec.Meta(pattern=r"^(?:\d{4}-\d\d-\d\d)?$")] = ""
    text: Annotated[str, msgspec.Meta(max_length=MAX_TEXT_BYTES)] = ""
    links: Annotated[list[str], msgspec.Meta(max_length=MAX_LINKS)] = []
    is_cut: bool = False
    problem: Annotated[str, msgspec.Meta(max_length=100)] = ""


@dataclass(frozen=True, slots=True)
class PageText:
    """`date`: of the last change, "" if unknown. `is_cut`: the page goes on after the text."""

    title: str
    date: str
    text: str
    links: frozenset[str]
    is_cut: bool


class WithoutText(ToolFailed):
    """The page has been read, and there is no text in it."""

    def __init__(self) -> None:
        super().__init__(_("The page holds no text. It may need scripts, which are not run here."))


class Stopped(Exception):
    """The call has ended, so that nobody waits for the text any more."""


@cache
def _threads() -> FairExecutor:
    """Return threads of their own, so that nobody's uploaded file waits for the pages of others."""
    return FairExecutor("pages", READING_THREADS)


async def read(page: Fetched, person: int) -> PageText:
    """Return the text. When this is cancelled, the child ends within a second. Raises ToolFailed."""
    stop = threading.Event()
    try:
        return await _threads().run(person, _read, page, stop)
    finally:
        stop.set()


def _read(page: Fetched, stop: threading.Event) -> PageText:
    def beat() -> None:
        if stop.is_set():
            raise Stopped

    beat()
    try:
        with _with_head(page) as file:
            reader = _reader(page)
            lines = stream_confined(
                PAGE_READER, file, LIMITS, reader, line_bytes=LIMITS.output_bytes, beat=beat
            )
            told = msgspec.json.decode(b"".join(lines), type=ChildOutput)
    except (Expired, TooMuchOutput):
        raise ToolFailed(_("The page took too long to read.")) from None
    except UnconfinedFiles as error:
        raise ToolFailed(str(error)) from None
    except (Crashed, ValueError, RecursionError):
        raise ToolFailed(_("The page is damaged and can’t be read.")) from None
    return _checked(told, page)


@contextmanager
def _with_head(page: Fetched) -> Iterator[IO[bytes]]:
    """Return a file with what the child has to know in its first line, then the page."""
    told = {"address": str(page.url), "charset": page.charset}
    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(told).encode() + b"\n")
        page.file.seek(0)
        shutil.copyfileobj(page.file, file)
        yield file


def _reader(page: Fetched) -> str:
    """Return which reader takes the text: that of the stated type, if the content allows it."""
    page.file.seek(0)
    head = page.file.read(TYPE_HEAD_BYTES)
    extension = page.url.name.rpartition(".")[2].lower()
    if stated := DOCUMENT_TYPES.get(page.media_type):
        extension = stated.extensions[0]
    elif page.media_type in HTML:
        extension = "html"
    elif page.media_type.startswith(TEXTS) or page.media_type.endswith(("+json", "+xml")):
        extension = "txt"
    guessed = document_types.guess(f"page.{extension}", head)
    found = DOCUMENT_TYPES[guessed] if guessed else None
    if not head.strip():
        raise ToolFailed(_("The page holds no text."))
    if found is None or found.is_converted:
        raise ToolFailed(_("This kind of page can’t be read."))
    if found.reader == "mail" and extension not in BY_EXTENSION:
        found = DOCUMENT_TYPES[PLAIN]
    return found.reader


def _checked(told: ChildOutput, page: Fetched) -> PageText:
    """Return what the child has written. It is not trusted: the page may have taken control of it."""
    if told.problem == "empty":
        raise WithoutText
    is_clean = not NOT_CLEAN.search(told.title + told.text) and len(told.text.encode()) <= MAX_TEXT_BYTES
    if told.problem or not is_clean or not told.text.strip():
        raise ToolFailed(_("The page is damaged and can’t be read."))
    title = told.title or page.url.name or page.url.host or ""
    date = told.date or _date(page.modified)
    return PageText(title, date, told.text, frozenset(_links(told.links, page)), told.is_cut)


def _links(links: list[str], page: Fetched) -> Iterator[str]:
    """Return those that may be read; to hosts that only a setting allows, those of such a host alone."""
    is_allowed = addresses.is_allowed(page.url)
    for each in links:
        try:
            url = addresses.parsed(each)
        except ToolFailed:
            continue
        if is_allowed or not addresses.is_allowed(url):
            yield str(url)


def _date(header: str) -> str:
    try:
        return parsedate_to_datetime(header).date().isoformat()
    except ValueError:
        return ""
