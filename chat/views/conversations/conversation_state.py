"""State of a conversation for an open page: its changes, and the beginning of the model's context."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.formats import number_format
from django.utils.http import quote_etag
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.accounts.timezones import timezone_of
from chat.conversations.turns import prompt
from chat.exceptions import NotFound, PayloadTooLarge
from chat.models import Conversation, Message
from chat.models.conversation import ConversationState
from chat.upstream.catalog import LlmModel

from ..requests import access

MAX_COUNTED = 100_000  # messages that are counted as no longer seen
# Newest messages sent: a page with all of them in sequence missed no turn between its last two.
TRAIL_MESSAGES = 3
NEXT = "next"  # no message: the model would be sent the next question alone


@access.require_methods("GET", "HEAD")
def state(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Return the conversation's state, or 304 if the client has it already (`If-None-Match`)."""
    state_now = Conversation.objects.state(access.get_user(request), conversation)
    if state_now is None:
        raise NotFound(_("This conversation doesn’t exist."))
    etag = quote_etag(state_now.version)
    response = get_conditional_response(request, etag=etag) or JsonResponse(_payload(state_now))
    response["ETag"] = etag
    # Not `no-store`: Chromium keeps a page out of its back/forward cache once its script got such a response.
    response["Cache-Control"] = "private, no-cache"
    return response


def _payload(state: ConversationState) -> dict[str, Any]:
    steps = Message.objects.ancestors(state.leaf, TRAIL_MESSAGES) if state.leaf else ()
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
def context(request: HttpRequest, conversation: uuid.UUID) -> HttpResponse:
    """Return what `?model=` would be sent with the next question: its oldest message, and its tokens."""
    own_conversation = access.get_conversation_or_404(request, conversation)
    models = access.get_models(request)
    name = request.GET.get("model", models.resolve_or_default(own_conversation.model).id)
    model = access.get_model_or_400(models, name)
    with timezone.override(timezone_of(request)):  # as in the prompt
        used = _context(own_conversation, model)
    return JsonResponse(
        {
            "context_start": _start(used),
            "tokens": used.tokens if used else 0,
            "window": model.window,
            "text": _usage_text(own_conversation, model, used),
        }
    )


def context_start(conversation: Conversation, model: LlmModel) -> str | None:
    """Return the oldest message's id, NEXT if no message fits any more, None if there is no message yet."""
    return _start(_context(conversation, model))


def _start(used: prompt.Context | None) -> str | None:
    return (str(used.start) if used.start else NEXT) if used else None


def _context(conversation: Conversation, model: LlmModel) -> prompt.Context | None:
    """Return what the model would be sent; None if there is no message yet."""
    if conversation.active_leaf_id is None:
        return None
    try:
        system = prompt.system_prompt(conversation)
        lasting, chosen = prompt.documents_of(conversation), conversation.parameters
        return prompt.next_context(system, conversation.active_leaf_id, model, chosen, lasting)
    except PayloadTooLarge:  # the system prompt alone fills the context window
        return prompt.Context(None, model.window)


def _usage_text(conversation: Conversation, model: LlmModel, used: prompt.Context | None) -> str:
    """Return how full the context window is, and how many messages the model no longer sees, as sentences."""
    tokens = used.tokens if used else 0
    numbers = {
        "tokens": number_format(tokens, force_grouping=True),
        "window": number_format(model.window, force_grouping=True),
        "share": round(100 * tokens / model.window),
    }
    text = _("About %(tokens)s of %(window)s tokens (%(share)s%%).") % numbers
    dropped = _dropped(conversation, used) if used else 0
    if not dropped:
        return text
    more = ngettext(
        "To leave room for the reply, the model no longer sees the first message.",
        "To leave room for the reply, the model no longer sees the first %(n)s messages.",
        dropped,
    )
    return f"{text} {more % {'n': number_format(dropped, force_grouping=True)}}"


def _dropped(conversation: Conversation, used: prompt.Context) -> int:
    """Return how many of the messages of the active branch the model would not be sent."""
    last = conversation.active_leaf_id
    if used.start:
        last = conversation.messages.values_list("parent", flat=True).get(pk=used.start)
    return sum(1 for _step in Message.objects.ancestors(last, MAX_COUNTED)) if last else 0
