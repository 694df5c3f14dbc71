"""State of a conversation for an open page: its changes, and the beginning of the model's context."""

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

TRAIL = 3  # newest messages sent: a page with all of them in sequence missed no turn between its last two
NEXT = "next"  # no message: the model would be sent the next question alone


@access.require_methods("GET", "HEAD")
async def state(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Return the conversation's state, or 304 if the client has it already (`If-None-Match`)."""
    return await run_in_db(_state, request, conversation)


def _state(request: HttpRequest, key: uuid.UUID) -> HttpResponseBase:
    found = Conversation.objects.state(access.get_user(request), key)
    if found is None:
        raise NotFound(_("There is no such conversation."))
    etag = quote_etag(found.version)
    response = get_conditional_response(request, etag=etag) or JsonResponse(_told(found))
    response["ETag"] = etag
    # Not `no-store`: Chromium keeps a page out of its back/forward cache once its script got such a response.
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
    """Return the oldest message that `?model=` would be sent with the next question, as `context_start`."""
    return await run_in_db(_context, await get_engine(), request, conversation)


def _context(engine: Engine, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    found = access.get_conversation_or_404(request, key)
    offered = catalog_for_user(engine.catalogue, access.get_user(request))
    try:
        model = offered.get(request.GET.get("model", offered.resolve_or_default(found.model).id))
    except UnknownModel as error:
        raise BadRequest(_("There is no such model here. Choose another one.")) from error
    return JsonResponse({"context_start": context_start(found, model)})


def context_start(conversation: Conversation, model: LlmModel) -> str | None:
    """Return the oldest message's id, NEXT if no message fits any more, None if there is no message yet."""
    if conversation.active_leaf_id is None:
        return None
    try:
        start = prompt.context_start(
            conversation.system, conversation.active_leaf_id, model, conversation.parameters
        )
    except PayloadTooLarge:  # the system prompt alone fills the context window
        return NEXT
    return str(start) if start else NEXT
