"""The source text of a message, to be copied."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from chat.db import run_in_db

from . import access


@access.require_methods("GET", "HEAD")
async def source(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Return a message's text as written; of a reply that is still being written, the part stored so far."""
    return HttpResponse(await run_in_db(_text, request, message), content_type="text/plain; charset=utf-8")


def _text(request: HttpRequest, key: uuid.UUID) -> str:
    message = access.get_message_or_404(request, key)
    live = message.runs.live().first()
    return message.text + (live.texts()[0] if live else "")
