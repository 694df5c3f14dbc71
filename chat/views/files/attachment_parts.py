"""Parts that the chat page loads when a file is first added, and the files that a page lets people choose.

What is uploaded is judged by its content alone.
"""

import json
import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from chat.catalog import config
from chat.conversations.turns.prompt import DOCUMENTS_DIVISOR
from chat.files.document_types import KNOWN_DOCUMENT_TYPES
from chat.files.passages.selection import parts_tokens
from chat.models import Attachment
from chat.upstream.catalog import LlmModel
from chat.upstream.doors import for_pictures

from ..model_picker import named_doors
from ..requests import access

PICTURES = ("image/jpeg", "image/png", "image/webp", "image/gif")
ANY_TEXT = "text/*"  # such as source code, whose extensions are without number
ANY_ID = uuid.UUID(int=0)  # of the templates' attachments, which scripts replace


def accepted(*, pictures: bool) -> str:
    """Return the `accept` attribute of a file input: only an account reads types that are converted."""
    readable = (each for each in KNOWN_DOCUMENT_TYPES if config.account() or not each.is_converted)
    extensions = (f".{extension}" for each in readable for extension in each.extensions)
    return ",".join([*(PICTURES if pictures else ()), ANY_TEXT, *extensions])


@access.require_methods("GET", "HEAD", part=True)
def parts(request: HttpRequest) -> HttpResponse:
    offered = access.get_models(request)
    labels = {door["model"].id: str(door["name"]) for door in named_doors(offered)}
    context = {
        "models": json.dumps(
            {model.id: _describe(model, labels.get(model.id, model.name)) for model in offered}
        ),
        "for_pictures": for_pictures(offered),
        "pictures": [Attachment(id=ANY_ID, name="", width=1, height=1)],
        "documents": [Attachment(id=ANY_ID, name="", pages=2)],
    }
    return render(request, "chat/_attachment_parts.html", context)


def _describe(model: LlmModel, label: str) -> dict[str, str | bool | float]:
    """Return what decides whether attachments suit the model, and what they cost.

    `label`: its name in the header, where it may be that of a door. `room`: for whole documents, and
    `parts`: of the best parts, in tokens. `price`: dollars per million tokens of input; 0 if the model is
    free or its price is unknown.
    """
    room = model.window // DOCUMENTS_DIVISOR
    return {
        "name": model.name,
        "label": label,
        "sees": model.vision,
        "room": room,
        "parts": parts_tokens(room),
        "price": model.price_in or 0,
    }
