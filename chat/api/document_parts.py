"""Documents in the messages of a request: checked data URLs, whose text stands before the message's own."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.exceptions import BadRequest, PayloadTooLarge
from chat.files.extraction import MAX_CHARACTERS, Extracted, NeedsConversion, convert, extract
from chat.files.passages import prompt_text
from chat.files.passages.pages import PageText
from chat.files.problems import TooManyAtOnce, Unreadable
from chat.files.reading import READERS
from chat.files.receiving import disk_errors, temporary_file
from chat.limits import MAX_FILE_NAME_CHARS, MEGABYTE
from chat.models import Attachment
from chat.upstream.client import Client
from chat.upstream.pictures import ClientPart

from .passed_fields import unknown_fields
from .picture_parts import bytes_of
from .refusals import Object, invalid

DOCUMENT_PART_TYPES = ("file", "input_file")
FILE_FIELDS = {"file_data", "filename", "file_id", "file_url"}
MAX_REQUEST_DOCUMENTS = 8  # per request
MAX_REQUEST_DOCUMENT_BYTES = 7_000_000  # per request
MAX_WAITING_DOCUMENT_CALLS = 8  # documents of one person that wait for a reader
DEFAULT_DOCUMENT_NAME = "document"
NOT_STORED = gettext_noop(
    "“%(name)s” is not supported. Send files as “file_data”: files aren’t stored or fetched."
)
NO_DATA_URL = gettext_noop("“%(name)s” must be a data URL (data:application/pdf;base64,…).")


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A document of a message, whose text has not been read yet. `more`: fields of its part."""

    name: str
    content: bytes = field(repr=False)
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def as_text(self) -> str:
        """The line that stands for the document where its text is not kept."""
        return f"[document: {prompt_text.label(Attachment(name=self.name))}]"


def document_of(part: Object, where: str, *, takes_all: bool) -> SentDocument:
    """Return the document of a part, in the shape of OpenAI's chat API or of its responses API.

    Raises InvalidField. The content of the document decides its type, not the type in the URL.
    """
    more = unknown_fields(part, {"file", *FILE_FIELDS}, where, takes_all=takes_all)
    file: Object = part.get("file", part)
    if file is not part:
        where = f"{where}.file"
        unknown_fields(file, FILE_FIELDS, where, takes_all=False)  # it does not reach the server
    if named := next((name for name in ("file_id", "file_url") if file.get(name)), ""):
        raise invalid(NOT_STORED, f"{where}.{named}", "unsupported_parameter")
    where = f"{where}.file_data"
    content = bytes_of(file.get("file_data") or "", where)
    if content is None:
        raise invalid(NO_DATA_URL, where)
    return SentDocument(_label(file.get("filename") or "") or DEFAULT_DOCUMENT_NAME, content, more)


def _label(name: str) -> str:
    """Return the last part of a path, on one line; its end, with the extension, if it is long."""
    return " ".join(name.replace("\\", "/").rpartition("/")[2].split())[-MAX_FILE_NAME_CHARS:]


def documents_of(messages: list[Object]) -> list[SentDocument]:
    return [part for each in messages for part in each.get("parts", ()) if isinstance(part, SentDocument)]


def check_documents(messages: list[Object]) -> None:
    """Raise BadRequest or PayloadTooLarge if they are too many or too large for one request."""
    documents = documents_of(messages)
    if len(documents) > MAX_REQUEST_DOCUMENTS:
        raise BadRequest(_("A request can have %(most)s files.") % {"most": MAX_REQUEST_DOCUMENTS})
    if sum(len(each.content) for each in documents) > MAX_REQUEST_DOCUMENT_BYTES:
        words = _("The files of a request can have %(most)s MB together.")
        raise PayloadTooLarge(words % {"most": MAX_REQUEST_DOCUMENT_BYTES // MEGABYTE})


async def texts_of(client: Client, person: int, documents: list[SentDocument]) -> dict[SentDocument, str]:
    """Return the fenced text of each document, one after the other, as `extract` reads and refuses them.

    Raises Unreadable also if they are too long together, and TooManyAtOnce.
    """
    texts: dict[SentDocument, str] = {}
    for number, document in enumerate(dict.fromkeys(documents), 1):
        texts[document] = _fenced(document, await _read(client, person, document), number)
        if sum(map(len, texts.values())) > MAX_CHARACTERS:
            words = _("The documents of this request are too long together. Send fewer.")
            raise Unreadable("document_too_long", words)
    return texts


async def _read(client: Client, person: int, document: SentDocument) -> Extracted:
    if READERS.waiting(person) >= MAX_WAITING_DOCUMENT_CALLS:
        raise TooManyAtOnce(_("Too many files at once. Wait until these are read."), retry_after=5)
    try:
        return await READERS.run(person, _extract, document)
    except NeedsConversion as needed:
        return await convert(client, person, io.BytesIO(document.content), needed)


def _extract(document: SentDocument) -> Extracted:
    with temporary_file() as file:
        with disk_errors():
            file.write(document.content)
            file.flush()
        return extract(file, document.name)


def _fenced(document: SentDocument, found: Extracted, number: int) -> str:
    pages = [PageText(number, text) for number, text in enumerate(found.pages, 1)]
    sha256 = hashlib.sha256(document.content).hexdigest()
    return prompt_text.whole(Attachment(name=document.name, pages=len(pages), file_id=sha256), pages, number)


def with_texts(messages: list[Object], texts: dict[SentDocument, str]) -> list[Object]:
    """Return the messages with the text of each document before the message's own text and pictures."""
    return [_replaced(message, texts) if "parts" in message else message for message in messages]


def recorded(messages: list[Object]) -> list[Object]:
    """Return the messages with a line for each document, as a stored call has them."""
    return with_texts(messages, {each: each.as_text for each in documents_of(messages)})


def _replaced(message: Object, texts: dict[SentDocument, str]) -> Object:
    documents = [part for part in message["parts"] if isinstance(part, SentDocument)]
    before = [marked_text(texts[document], document.more) for document in documents]
    rest = [part for part in message["parts"] if not isinstance(part, SentDocument)]
    content = "\n\n".join(filter(None, [*(texts[document] for document in documents), message["content"]]))
    other = {name: value for name, value in message.items() if name != "parts"} | {"content": content}
    parts = [*before, *rest]
    return other if all(isinstance(part, str) for part in parts) else other | {"parts": parts}


def marked_text(text: str, more: Mapping[str, Any]) -> str | ClientPart:
    """Return a text as a part, with further fields."""
    return ClientPart({"type": "text", "text": text, **more}, text) if text and more else text
