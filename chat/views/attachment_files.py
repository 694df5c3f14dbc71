"""The response that sends an attachment's file, under headers that let a browser do little with it."""

import asyncio
from collections.abc import Hashable
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.translation import gettext as _

from chat.attachments import files
from chat.exceptions import NotFound
from chat.models import Attachment
from chat.models.attachment import EXTENSIONS

SECONDS_TO_KEEP = 86_400
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
}
DOWNLOAD = "application/octet-stream"  # of a document, which a browser must save and never open


async def respond(request: HttpRequest, attachment: Attachment, reader: Hashable) -> HttpResponseBase:
    """Return the stored bytes: a picture to be shown, a document to be saved.

    `reader`: the person, or the client, whose share of the threads this uses.
    """
    etag = quote_etag(attachment.sha256)
    response = get_conditional_response(request, etag=etag)
    if response is None:
        content = await asyncio.wrap_future(files.POOL.submit(reader, _read, attachment.sha256))
        is_picture = attachment.is_picture
        response = HttpResponse(content, content_type=attachment.media_type if is_picture else DOWNLOAD)
        response["Content-Disposition"] = _disposition(attachment)
    response["ETag"] = etag
    response["Cache-Control"] = f"private, max-age={SECONDS_TO_KEEP}, immutable"
    for name, value in HEADERS.items():
        response[name] = value
    return response


def _disposition(attachment: Attachment) -> str:
    if attachment.is_picture:
        how, plain = "inline", f"picture.{EXTENSIONS[attachment.media_type]}"
    else:
        how, plain = "attachment", "document"
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(attachment.name or plain, safe='')}"


def _read(sha256: str) -> bytes:
    try:
        return files.read(sha256)
    except FileNotFoundError as error:
        raise NotFound(_("This file is missing.")) from error
