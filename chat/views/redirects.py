"""Where a plain form leads to, once it was done as it says."""

import uuid

from django.http import HttpResponseRedirect
from django.urls import reverse


class HttpResponseSeeOther(HttpResponseRedirect):
    status_code = 303


def to_conversation(conversation: uuid.UUID, message: uuid.UUID | None = None) -> HttpResponseSeeOther:
    """To a conversation's page, and there to a message."""
    page = reverse("chat:conversation", args=[conversation])
    return HttpResponseSeeOther(f"{page}#m-{message}" if message else page)
