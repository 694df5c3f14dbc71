"""Redirects after a form was processed (303 See Other)."""

import uuid

from django.http import HttpResponseRedirect
from django.urls import reverse


class HttpResponseSeeOther(HttpResponseRedirect):
    status_code = 303


def to_conversation(conversation: uuid.UUID, message: uuid.UUID | None = None) -> HttpResponseSeeOther:
    """Redirect to a conversation's page, and to the message on it if one is given."""
    page = reverse("chat:conversation", args=[conversation])
    return HttpResponseSeeOther(f"{page}#m-{message}" if message else page)
