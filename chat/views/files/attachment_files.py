"""The response that sends an attachment's file, under headers that let a browser do little with it."""

from collections.abc import AsyncIterator, Hashable
from urllib.parse import quote

from django.core.files.base import File
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.translation import gettext as _

from chat.exceptions import NotFound
from chat.files import files
from chat.models import Attachment
from chat.models.attachment import EXTENSIONS

SECONDS_TO_KEEP = 86_400
DOWNLOAD_PIECE_BYTES = 65_536
ATTACHMENT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
}
DOWNLOAD_TYPE = "application/octet-stream"  # of a document, which a browser must save and never open


async def respond(request: HttpRequest, attachment: Attachment, reader: Hashable) -> HttpResponseBase:
    """Return the stored bytes: a picture to be shown, a document to be saved.

    `reader`: the person, or the client, whose share of the threads this uses.
    """
    etag = quote_etag(attachment.sha256)
    response: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if response is None:
        kind = attachment.media_type if attachment.is_picture else DOWNLOAD_TYPE
        file = await files.STORAGE_POOL.run(reader, _opened, attachment.sha256)
        if file.size > DOWNLOAD_PIECE_BYTES and request.method != "HEAD":
            response = StoredFile(file, reader, kind)
        else:
            with file:
                response = HttpResponse(file.read(), content_type=kind)
        response["Content-Disposition"] = _disposition(attachment)
    response["ETag"] = etag
    response["Cache-Control"] = f"private, max-age={SECONDS_TO_KEEP}, immutable"
    for name, value in ATTACHMENT_HEADERS.items():
        response[name] = value
    return response


def _disposition(attachment: Attachment) -> str:
    if attachment.is_picture:
        how, plain = "inline", f"picture.{EXTENSIONS[attachment.media_type]}"
    else:
        how, plain = "attachment", "document"
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(attachment.name or plain, safe='')}"


class StoredFile(StreamingHttpResponse):
    """A stored file, read in pieces, so that a slow client does not keep all of it in memory."""

    def __init__(self, file: "File[bytes]", reader: Hashable, content_type: str) -> None:
        super().__init__(_pieces(file, reader), content_type=content_type)
        self["Content-Length"] = str(file.size)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()


async def _pieces(file: "File[bytes]", reader: Hashable) -> AsyncIterator[bytes]:
    while piece := await files.STORAGE_POOL.run(reader, file.read, DOWNLOAD_PIECE_BYTES):
        yield piece


def _opened(sha256: str) -> "File[bytes]":
    try:
        return files.opened(sha256)
    except FileNotFoundError as error:
        raise NotFound(_("This file is missing.")) from error
