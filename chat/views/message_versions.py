"""Selection of the version of a message that is shown."""

import uuid

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase

from chat.db import run_in_db
from chat.models import Conversation
from chat.turns.version_selection import select_version

from . import access, request_parsers
from .errors import is_form
from .redirects import to_conversation


@access.require_methods("POST")
async def select(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Make this version the shown one, and below it the branch that was last read or written."""
    conversation = await run_in_db(_select, request, message)
    if is_form(request):
        return to_conversation(conversation.pk, message)
    return JsonResponse(
        {
            "conversation": str(conversation.pk),
            "message": str(message),
            "leaf": str(conversation.active_leaf_id),
        }
    )


def _select(request: HttpRequest, message: uuid.UUID) -> Conversation:
    user = access.get_user(request)
    request_parsers.no_fields(request)
    return select_version(user, message)
