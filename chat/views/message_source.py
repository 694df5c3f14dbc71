"""A message as it was written: what is copied."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from chat.db import run_in_db

from . import access


@access.require_methods("GET", "HEAD")
async def source(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """The Markdown of a reply, or a question's text; of a reply that still grows, what is stored of it."""
    return HttpResponse(await run_in_db(_text, request, message), content_type="text/plain; charset=utf-8")


def _text(request: HttpRequest, key: uuid.UUID) -> str:
    message = access.get_message_or_404(request, key)
    live = message.runs.live().first()
    return message.text + (live.texts()[0] if live else "")
