"""What an open page asks for while it is looked at: whether its conversation has changed since, and where the
model's context begins."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.translation import gettext as _

from chat.db import run_in_db
from chat.engine.engine import Engine, get_engine
from chat.exceptions import BadRequest, NotFound, PayloadTooLarge
from chat.model_catalog.catalog import catalog_for_user
from chat.models import Conversation, Message
from chat.models.conversation import ConversationState
from chat.turns import prompt
from chat.upstream.catalogue import LlmModel, UnknownModel

from . import access

TRAIL = 3  # messages: a page that shows these, one after the other, has missed no turn between its last two
NEXT = "next"  # the next question is all that the model would be sent


@access.require_methods("GET", "HEAD")
async def state(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """The conversation's state, or 304 for who has it already (`If-None-Match`)."""
    return await run_in_db(_state, request, conversation)


def _state(request: HttpRequest, key: uuid.UUID) -> HttpResponseBase:
    found = Conversation.objects.state(access.get_user(request), key)
    if found is None:
        raise NotFound(_("There is no such conversation."))
    etag = quote_etag(found.version)
    response = get_conditional_response(request, etag=etag) or JsonResponse(_told(found))
    response["ETag"] = etag
    # Chromium does not keep a page for the way back to it whose script was answered with `no-store`.
    response["Cache-Control"] = "private, no-cache"
    return response


def _told(state: ConversationState) -> dict[str, Any]:
    steps = Message.objects.ancestors(state.leaf, TRAIL) if state.leaf else ()
    return {
        "version": state.version,
        "title": state.title,
        "trail": [str(step.id) for step in steps],  # the last message first
        "run": state.run and str(state.run),
        "status": state.status,
        "model": state.model,
        "context_start": state.context_start and str(state.context_start),
    }


@access.require_methods("GET", "HEAD")
async def context(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """The oldest message that `?model=` would be sent with the next question."""
    return await run_in_db(_context, await get_engine(), request, conversation)


def _context(here: Engine, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    found = access.get_conversation_or_404(request, key)
    offered = catalog_for_user(here.catalogue, access.get_user(request))
    try:
        model = offered.get(request.GET.get("model", offered.resolve_or_default(found.model).id))
    except UnknownModel as error:
        raise BadRequest(_("There is no such model here. Choose another one.")) from error
    return JsonResponse({"context_start": context_start(found, model)})


def context_start(conversation: Conversation, model: LlmModel) -> str | None:
    """An id, or `next` where no message is read any more; None where there is none yet."""
    if conversation.active_leaf_id is None:
        return None
    try:
        start = prompt.context_start(
            conversation.system, conversation.active_leaf_id, model, conversation.parameters
        )
    except PayloadTooLarge:  # the instructions alone fill the window
        return NEXT
    return str(start) if start else NEXT
