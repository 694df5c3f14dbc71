"""Views that change a conversation as a whole."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.db import run_in_db, write_lock
from chat.engine.engine import Engine, get_engine
from chat.exceptions import BadRequest, NotFound
from chat.model_catalog.catalog import catalog_for_user
from chat.models import Conversation, Run
from chat.upstream import parameters
from chat.upstream.catalogue import UnknownModel

from . import access, request_parsers
from .errors import is_form
from .redirects import HttpResponseSeeOther, to_conversation


@access.require_methods("POST")
async def rename(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Change the title, until the next rename; the place in the list stays."""
    return await _change(
        request, conversation, lambda engine, found: {"title": request_parsers.title(request)}
    )


@access.require_methods("POST")
async def settings(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Change the model, the system prompt and the parameters, from the next turn on."""
    return await _change(request, conversation, lambda engine, found: _settings(engine, request, found))


def _settings(engine: Engine, request: HttpRequest, found: Conversation) -> dict[str, Any]:
    changed = request_parsers.settings(request)
    if "parameters" in changed:
        changed["parameters"] = parameters.merge(found.parameters, changed["parameters"])
    offered = catalog_for_user(engine.catalogue, access.get_user(request))
    try:
        offered.get(changed.get("model", offered.default.id))
    except UnknownModel as error:
        raise BadRequest(_("There is no such model here. Choose another one.")) from error
    return changed


async def _change(
    request: HttpRequest, conversation: uuid.UUID, read: Callable[[Engine, Conversation], dict[str, Any]]
) -> HttpResponseBase:
    """Update only the columns that `read` returns from the request."""
    engine = await get_engine()

    def change() -> dict[str, Any]:
        found = access.get_conversation_or_404(request, conversation)
        changed = read(engine, found)
        with write_lock():
            Conversation.objects.filter(pk=found.pk).update(**changed)
        return changed

    return _answer(request, conversation, **await run_in_db(change))


@access.require_methods("POST")
async def seen(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Mark the reply shown now as seen by its owner."""
    await run_in_db(_seen, request, conversation)
    return _answer(request, conversation)


def _seen(request: HttpRequest, conversation: uuid.UUID) -> None:
    """Set `last_seen` to the end of the reply, so that no other server's clock matters; never back."""
    found = access.get_conversation_or_404(request, conversation)
    ended = Run.objects.filter(message=found.active_leaf_id).aggregate(ended=Max("finished"))["ended"]
    if ended and ended > found.last_seen:
        with write_lock():
            Conversation.objects.filter(pk=found.pk, last_seen__lt=ended).update(last_seen=ended)


@access.require_methods("POST")
async def delete(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Mark a conversation as deleted, and stop its live runs."""
    engine = await get_engine()
    live = await run_in_db(_delete, request, conversation)
    for run in live:
        engine.stop(run)
    if is_form(request):
        return HttpResponseSeeOther(f"{reverse('chat:home')}?deleted={conversation}")
    return _answer(request, conversation, deleted=True)


def _delete(request: HttpRequest, conversation: uuid.UUID) -> list[Run]:
    found = access.get_conversation_or_404(request, conversation)
    with write_lock(), transaction.atomic():
        Conversation.objects.filter(pk=found.pk).update(deleted=timezone.now())
        live = list(Run.objects.live().filter(conversation=found).select_related("worker"))
        if live:
            Run.objects.live().filter(conversation=found).update(stop_requested=True)
    return live


@access.require_methods("POST")
async def undelete(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Undo a deletion; a conversation that is not deleted stays as it is."""
    await run_in_db(_undelete, request, conversation)
    return _answer(request, conversation, deleted=False)


def _undelete(request: HttpRequest, conversation: uuid.UUID) -> None:
    mine = Conversation.objects.filter(pk=conversation, user=access.get_user(request))
    with write_lock():
        restored = mine.recoverable().update(deleted=None)
    if not restored and not mine.filter(deleted=None).exists():
        raise NotFound(_("There is no such conversation."))


def _answer(request: HttpRequest, conversation: uuid.UUID, **changed: Any) -> HttpResponseBase:
    if is_form(request):
        return to_conversation(conversation)
    return JsonResponse({"conversation": str(conversation), **changed})
