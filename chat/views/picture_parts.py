"""Parts that the chat page loads when a picture is first used: templates, sentences and a dialog."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from chat.models import Attachment

from . import access

ANY_ID = uuid.UUID(int=0)  # of the template's picture, which scripts replace


@access.require_methods("GET", "HEAD", part=True)
def parts(request: HttpRequest) -> HttpResponse:
    access.get_user(request)
    sample = [Attachment(id=ANY_ID, name="", width=1, height=1)]
    return render(request, "chat/_picture_parts.html", {"sample": sample})
