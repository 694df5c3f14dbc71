"""The menu of prompts that opens in the message box, and the text of the one that is taken."""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from chat.library.prompts import library
from chat.models import Prompt

from ..requests import access
from ..requests.errors import is_part


@access.require_methods("GET", "HEAD", part=True)
def menu(request: HttpRequest) -> HttpResponse:
    """Return the prompts that the user may use: to the chat page's own script the menu, to others JSON."""
    found = list(library.listed(access.get_user(request)))
    if is_part(request):
        response = render(request, "prompts/_menu.html", {"prompts": found})
    else:
        response = JsonResponse({"prompts": [_listed(prompt) for prompt in found]})
    response["Cache-Control"] = "no-store"
    return response


@access.require_methods("GET", "HEAD", part=True)
def text(request: HttpRequest, prompt: uuid.UUID) -> HttpResponse:
    """Return one prompt with its text, as JSON."""
    found = library.find(access.get_user(request), prompt)
    return JsonResponse(_listed(found) | {"text": found.text}, headers={"Cache-Control": "no-store"})


def _listed(prompt: Prompt) -> dict[str, str]:
    return {"id": str(prompt.pk), "title": prompt.title, "command": prompt.command}
