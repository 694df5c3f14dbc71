"""Views of a conversation as a whole: changes, its state, and the beginning of the model's context."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.formats import number_format
from django.utils.http import quote_etag
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.accounts.timezones import timezone_of
from chat.conversations import changes, titles
from chat.conversations.turns.prompt import Context, Prompts
from chat.db.executor import run_in_db, write_lock
from chat.engine.engine import get_engine
from chat.exceptions import NotFound, PayloadTooLarge
from chat.models import Conversation, Message, Run
from chat.models.conversation import ConversationState
from chat.retention.deletion import delete_conversations, never
from chat.upstream import parameters
from chat.upstream.catalog import LlmModel

from ..requests import access, request_parsers
from ..requests.request_fields import is_form
from ..requests.responses import HttpResponseSeeOther, to_conversation

MAX_COUNTED = 100_000  # messages that are counted as no longer seen
# Newest messages sent: a page with all of them in sequence missed no turn between its last two.
TRAIL_MESSAGES = 3
NEXT = "next"  # no message: the model would be sent the next question alone


@access.require_methods("POST")
def rename(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Change the title, which no generated one replaces; the place in the list stays."""
    own_conversation = access.get_conversation_or_404(request, conversation)
    title = request_parsers.title(request)
    titles.rename(own_conversation, title)
    return _changed(request, conversation, title=title)


@access.require_methods("POST")
def settings(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Change the model, the system prompt and the parameters, from the next turn on."""
    own_conversation = access.get_conversation_or_404(request, conversation)
    sent = request_parsers.settings(request)
    if "parameters" in sent:
        sent["parameters"] = parameters.merge(own_conversation.parameters, sent["parameters"])
    if "model" in sent:
        access.get_model_or_400(access.get_models(request), sent["model"])
    with write_lock():
        Conversation.objects.filter(pk=own_conversation.pk).update(**sent)
    return _changed(request, conversation, **sent)


@access.require_methods("POST")
def seen(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Mark the reply shown now as seen by its owner.

    `last_seen` becomes the end of the reply, so that no other server's clock matters; it never goes back.
    """
    own_conversation = access.get_conversation_or_404(request, conversation)
    runs = Run.objects.filter(message=own_conversation.active_leaf_id)
    ended = runs.aggregate(ended=Max("finished"))["ended"]
    if ended and ended > own_conversation.last_seen:
        with write_lock():
            Conversation.objects.filter(pk=own_conversation.pk, last_seen__lt=ended).update(last_seen=ended)
    return _changed(request, conversation)


@access.require_methods("POST")
async def delete(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Mark a conversation as deleted, and stop its live runs. A temporary one is deleted for good at once.

    If a reply is being written in a temporary one, the next sweep deletes it.
    """
    engine = await get_engine()
    live_runs = await run_in_db(_delete, request, conversation)
    for run in live_runs:
        engine.stop(run)
    if is_form(request):
        return HttpResponseSeeOther(f"{reverse('chat:home')}?deleted={conversation}")
    return _changed(request, conversation, deleted=True)


def _delete(request: HttpRequest, conversation: uuid.UUID) -> list[Run]:
    own_conversation = access.get_conversation_or_404(request, conversation)
    with write_lock(), transaction.atomic():
        live_runs = changes.delete(Conversation.objects.filter(pk=own_conversation.pk), timezone.now())
    if own_conversation.temporary and not live_runs:
        delete_conversations(Conversation.objects.filter(pk=own_conversation.pk), never)
    return live_runs


@access.require_methods("POST")
def undelete(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Undo a deletion; a conversation that is not deleted stays as it is."""
    own = Conversation.objects.filter(pk=conversation, user=access.get_user(request))
    with write_lock():
        restored = own.recoverable().update(deleted=None)
    if not restored and not own.filter(deleted=None).exists():
        raise NotFound(_("This chat doesn’t exist."))
    return _changed(request, conversation, deleted=False)


def _changed(request: HttpRequest, conversation: uuid.UUID, **changed: Any) -> HttpResponseBase:
    if is_form(request):
        return to_conversation(conversation)
    return JsonResponse({"conversation": str(conversation), **changed})


@access.require_methods("GET", "HEAD")
def state(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Return the conversation's state, or 304 if the client has it already (`If-None-Match`)."""
    state_now = Conversation.objects.state(access.get_user(request), conversation)
    if state_now is None:
        raise NotFound(_("This chat doesn’t exist."))
    etag = quote_etag(state_now.version)
    response = get_conditional_response(request, etag=etag) or JsonResponse(_payload(state_now))
    response["ETag"] = etag
    # Not `no-store`: Chromium keeps a page out of its back/forward cache once its script got such a response.
    response["Cache-Control"] = "private, no-cache"
    return response


def _payload(state: ConversationState) -> dict[str, Any]:
    path = Message.objects.ancestors(state.leaf, TRAIL_MESSAGES) if state.leaf else ()
    return {
        "version": state.version,
        "title": state.title,
        "trail": [str(node.id) for node in path],  # the last message first
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


def _start(used: Context | None) -> str | None:
    return (str(used.start) if used.start else NEXT) if used else None


def _context(conversation: Conversation, model: LlmModel) -> Context | None:
    """Return what the model would be sent; None if there is no message yet."""
    if conversation.active_leaf_id is None:
        return None
    try:
        return Prompts.of(conversation, model).next_context(conversation.active_leaf_id)
    except PayloadTooLarge:  # the system prompt alone fills the context window
        return Context(None, model.window)


def _usage_text(conversation: Conversation, model: LlmModel, used: Context | None) -> str:
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


def _dropped(conversation: Conversation, used: Context) -> int:
    """Return how many of the messages of the active branch the model would not be sent."""
    last = conversation.active_leaf_id
    if used.start:
        last = conversation.messages.values_list("parent", flat=True).get(pk=used.start)
    return sum(1 for _node in Message.objects.ancestors(last, MAX_COUNTED)) if last else 0
