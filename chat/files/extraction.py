"""The text of uploaded documents, page by page.

A child process takes it (`confined/documents.py`); on sites with an account, Cloudflare takes that of types
which only it reads, such as OpenDocument.
"""

import asyncio
import logging
import re
from dataclasses import dataclass
from typing import IO, Annotated

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.db.fair_executor import ConcurrencyLimit
from chat.exceptions import RequestError
from chat.upstream.client import Client
from chat.upstream.errors import ErrorKind, UpstreamError

from . import document_types
from .confinement import ChildLimits, Expired, run_confined
from .document_types import BY_EXTENSION, DOCUMENT_TYPES, TYPE_HEAD_BYTES
from .problems import ConversionUnavailable, Unreadable

DOCUMENT_READER = "chat.files.confined.documents"
MAX_PAGES = 2_000
MAX_CHARACTERS = 4_000_000  # of all pages together
EXTRACTION_WALL_SECONDS = 40
EXTRACTION_LIMITS = {"address_space_bytes": 1_073_741_824, "cpu_seconds": 25}
# As UTF-8, a character takes four bytes; a line feed and a quotation mark two, in JSON.
MAX_EXTRACTED_BYTES = 4 * MAX_CHARACTERS + 100_000
NOT_CLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
MAX_NAME_CHARS = 100
CONVERSION_RETRY_SECONDS = 30
# By the word of the child: the code for programs, and the words for people.
REFUSALS = {
    "type": (
        "not_a_document",
        gettext_noop(
            "This kind of file can’t be read here. PDF, Word, Excel, PowerPoint, web and text files, mail "
            "and notebooks can, and pictures as JPEG, PNG, WebP or GIF."
        ),
    ),
    "savable": (
        "not_a_document",
        gettext_noop("The text of this file can’t be read here. Save it as PDF or DOCX, then add that."),
    ),
    "outlook": (
        "not_a_document",
        gettext_noop(
            "Outlook’s own format can’t be read here. Save the message as EML or PDF, then add that."
        ),
    ),
    "encoding": (
        "uncertain_encoding",
        gettext_noop("The encoding of this text file is uncertain. Save it as UTF-8, then add it again."),
    ),
    "encrypted": (
        "encrypted_document",
        gettext_noop("This document has a password. Save it without one, then add it again."),
    ),
    "pages": (
        "too_many_pages",
        gettext_noop("This document has more than %(most)s pages. Add a part of it."),
    ),
    "long": ("document_too_long", gettext_noop("This document is too long. Add a part of it.")),
    "empty": (
        "no_text",
        gettext_noop("No text was found in this document. If its pages are pictures, add them as pictures."),
    ),
    "time": (
        "document_took_too_long",
        gettext_noop("This document took too long to read. Add a part of it."),
    ),
    "broken": ("broken_document", gettext_noop("This document is damaged and can’t be read.")),
    "unconverted": (
        "broken_document",
        gettext_noop("Cloudflare can’t read this document. Save it as PDF or DOCX, then add that."),
    ),
}
CONVERSIONS = ConcurrencyLimit(1)  # of one person at a time

logger = logging.getLogger(__name__)


class ChildOutput(msgspec.Struct):
    """Pages, or the name of a problem. `form`: of Office files, the extension of the type they have."""

    form: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)] = ""
    pages: Annotated[list[str], msgspec.Meta(max_length=MAX_PAGES)] = []
    problem: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)] = ""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a document by pages, sheets or slides; one page for types without them.

    Clean Unicode: of the control characters, only line feeds and tabs.
    """

    media_type: str
    pages: tuple[str, ...]


class NeedsConversion(Unreadable):
    """The type needs the conversion by Cloudflare, see `convert`. Without an account, a refusal."""

    def __init__(self, media_type: str) -> None:
        words = _("This site can’t read this type of document. Save it as PDF or DOCX, then add that.")
        super().__init__("not_a_document", words)
        self.media_type = media_type


def extract(file: IO[bytes], name: str) -> Extracted:
    """Return the text of the document in `file`. `name` is the client's.

    Blocks for up to `EXTRACTION_WALL_SECONDS`. `file` must be a real file, which the child reads. Raises
    NeedsConversion and Unreadable.
    """
    file.seek(0)
    head = file.read(TYPE_HEAD_BYTES)
    media_type = document_types.guess(name, head)
    if media_type is None:
        raise _problem(document_types.refusal(name, head))
    found = DOCUMENT_TYPES[media_type]
    if found.is_converted:
        raise NeedsConversion(media_type)
    limits = ChildLimits(
        wall_seconds=EXTRACTION_WALL_SECONDS, output_bytes=MAX_EXTRACTED_BYTES, **EXTRACTION_LIMITS
    )
    try:
        output = run_confined(
            DOCUMENT_READER, file, limits, found.reader, str(MAX_PAGES), str(MAX_CHARACTERS)
        )
    except Expired:
        raise _problem("time") from None
    return _checked(output, media_type)


def converted(media_type: str, markdown: str) -> Extracted:
    """Return the text that Cloudflare has taken. Raises Unreadable, as `extract` does."""
    text = NOT_CLEAN.sub("", markdown.replace("\r\n", "\n")).strip()
    if len(text) > MAX_CHARACTERS:
        raise _problem("long")
    if not text:
        raise _problem("empty")
    return Extracted(media_type, (text,))


def _checked(output: bytes, media_type: str) -> Extracted:
    """Return what the child has written. It is not trusted: the document may have taken control of it."""
    try:
        told = msgspec.json.decode(output, type=ChildOutput)  # a wrong value ends it at once
    except (ValueError, RecursionError):  # killed by a limit, or taken over
        raise _problem("broken") from None
    if told.problem or not _are_pages(told.pages):
        raise _problem(told.problem or "broken")
    if DOCUMENT_TYPES[media_type].reader == "office" and told.form in BY_EXTENSION:
        media_type = BY_EXTENSION[told.form].media_type  # its content is of another type than its name
    return Extracted(media_type, tuple(told.pages))


def _are_pages(pages: list[str]) -> bool:
    return not any(map(NOT_CLEAN.search, pages)) and 0 < sum(map(len, pages)) <= MAX_CHARACTERS


def _problem(name: str) -> Unreadable:
    code, words = REFUSALS.get(name, REFUSALS["broken"])
    return Unreadable(code, _(words) % {"most": MAX_PAGES})


async def convert(client: Client, person: int, file: IO[bytes], needed: NeedsConversion) -> Extracted:
    """Return the text of the document in `file`, which `extract` refused with `needed`.

    Raises `needed` if the site has no account, otherwise Unreadable and ConversionUnavailable.
    """
    if (cloudflare := client.cloudflare) is None:
        raise needed
    extension = DOCUMENT_TYPES[needed.media_type].extensions[0]
    try:
        async with CONVERSIONS.slot(person):
            content = await asyncio.to_thread(_content, file)
            markdown = await cloudflare.convert_to_markdown(extension, needed.media_type, content)
    except UpstreamError as error:
        logger.warning("Cloudflare did not convert a document: %s %s", error, error.detail)
        raise _conversion_problem(error) from error
    return await asyncio.to_thread(converted, needed.media_type, markdown)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _conversion_problem(error: UpstreamError) -> RequestError:
    if error.kind is ErrorKind.INVALID:
        return _problem("unconverted")
    if error.kind is ErrorKind.TOO_LONG:
        return _problem("long")
    words = _("Cloudflare can’t read documents right now. Save this one as PDF or DOCX, then add that.")
    return ConversionUnavailable(words, retry_after=None if error.permanent else CONVERSION_RETRY_SECONDS)
