"""The text of documents that only Cloudflare reads, such as OpenDocument; on sites with an account."""

import asyncio
import logging
from typing import IO

from django.utils.translation import gettext as _

from chat.db.fair_executor import ConcurrencyLimit
from chat.exceptions import RequestError
from chat.upstream.client import Client
from chat.upstream.errors import ErrorKind, UpstreamError

from .document_types import DOCUMENT_TYPES
from .extraction import Extracted, NeedsConversion, converted
from .problems import BrokenDocument, ConversionUnavailable, DocumentTooLong

CONVERSION_RETRY_SECONDS = 30
CONVERSIONS = ConcurrencyLimit(1)  # of one person at a time

logger = logging.getLogger(__name__)


async def convert(client: Client, person: int, file: IO[bytes], needed: NeedsConversion) -> Extracted:
    """Return the text of the document in `file`, which `extract` refused with `needed`.

    Raises `needed` if the site has no account, otherwise BrokenDocument, DocumentTooLong, NoText and
    ConversionUnavailable.
    """
    if client.cloudflare is None:
        raise needed
    extension = DOCUMENT_TYPES[needed.media_type].extensions[0]
    try:
        async with CONVERSIONS.slot(person):
            content = await asyncio.to_thread(_content, file)
            markdown = await client.convert_to_markdown(extension, needed.media_type, content)
    except UpstreamError as error:
        logger.warning("Cloudflare did not convert a document: %s %s", error, error.detail)
        raise _problem(error) from error
    return await asyncio.to_thread(converted, needed.media_type, markdown)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _problem(error: UpstreamError) -> RequestError:
    if error.kind is ErrorKind.INVALID:
        return BrokenDocument(
            _("Cloudflare can’t read this document. Save it as PDF or DOCX, then add that.")
        )
    if error.kind is ErrorKind.TOO_LONG:
        return DocumentTooLong(_("This document is too long. Add a part of it."))
    words = _("Cloudflare can’t read documents right now. Save this one as PDF or DOCX, then add that.")
    return ConversionUnavailable(words, retry_after=None if error.permanent else CONVERSION_RETRY_SECONDS)
