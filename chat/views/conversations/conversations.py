"""Views that change a conversation as a whole."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.conversations.arrangement import changes
from chat.conversations.titles import store
from chat.db.executor import run_in_db, write_lock
from chat.engine.engine import get_engine
from chat.exceptions import NotFound
from chat.models import Conversation, Run
from chat.retention.batches import never
from chat.retention.conversations import delete_conversations
from chat.upstream import parameters

from ..requests import access, request_parsers
from ..requests.errors import is_form
from ..requests.responses import HttpResponseSeeOther, to_conversation


@access.require_methods("POST")
def rename(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Change the title, which no generated one replaces; the place in the list stays."""
    own_conversation = access.get_conversation_or_404(request, conversation)
    title = request_parsers.title(request)
    store.rename(own_conversation, title)
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
        raise NotFound(_("This conversation doesn’t exist."))
    return _changed(request, conversation, deleted=False)


def _changed(request: HttpRequest, conversation: uuid.UUID, **changed: Any) -> HttpResponseBase:
    if is_form(request):
        return to_conversation(conversation)
    return JsonResponse({"conversation": str(conversation), **changed})
