"""Views of messages: those that start a run, and the actions on a message and its branch.

A view that starts a run stores the turn, launches the run, and responds with its event stream.
"""

import asyncio
import uuid
from collections.abc import Callable
from functools import partial

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.accounts.timezones import timezone_of
from chat.catalog import config
from chat.catalog.catalog import writer_name
from chat.conversations.turns import versions
from chat.conversations.turns.commands import Command
from chat.conversations.turns.fork import fork as fork_branch
from chat.conversations.turns.store import StoredTurn
from chat.db.executor import run_in_db, write_lock
from chat.engine.document_ranking import MAX_RANKINGS
from chat.engine.engine import Engine, get_engine
from chat.engine.streaming.run_state import RunState
from chat.exceptions import Conflict, ConversationBusy, NotAuthenticated, RequestError, ServiceDraining
from chat.files.passages.best_passages import Ranked, RankingRequest
from chat.models import Feedback, Message, Run, User
from chat.models.message import THUMBS
from chat.sharing import links
from chat.upstream.providers.ai_gateway import GatewayLogRef
from chat.wire.position import Position

from .. import pages
from ..accounts import login
from ..files import form_files
from ..requests import access, request_parsers
from ..requests.request_fields import is_form, is_part, wants_json
from ..requests.responses import HttpResponseSeeOther, event_stream, to_conversation, to_message
from . import thread


@form_files.receives()
@access.require_methods("POST")
async def send(request: HttpRequest, conversation: uuid.UUID | None = None) -> HttpResponseBase:
    """Add a turn to a conversation; without one, start a new conversation with it."""
    try:
        async with form_files.from_form(request) as attached:
            parse = partial(request_parsers.question, conversation=conversation, attached=attached)
            return await _start_run(request, parse)
    except RequestError as refusal:
        if not is_form(request) or wants_json(request):
            raise
        if isinstance(refusal, NotAuthenticated):
            return await run_in_db(login.login_with_pending_message, request)
        return await pages.render_rejected(request, conversation, refusal)


@access.require_methods("POST")
async def edit(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Add an edited version of a question as a new branch beside the old one, and have it answered."""
    return await _start_run(request, partial(request_parsers.edit, message=message))


@access.require_methods("POST")
async def regenerate(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    return await _start_run(request, partial(request_parsers.regeneration, message=message))


@access.require_methods("POST")
async def continue_reply(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Continue a reply that was cut short."""
    return await _start_run(request, partial(request_parsers.continuation, message=message))


@access.require_methods("POST")
def select(request: HttpRequest, message: uuid.UUID) -> HttpResponse:
    """Make this version the shown one, and below it the branch that was last read or written."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    conversation = versions.select_version(user, message)
    if is_form(request):
        redirect = to_message if "at" in request.GET else to_conversation
        return redirect(conversation.pk, message)
    leaf = str(conversation.active_leaf_id)
    return JsonResponse({"conversation": str(conversation.pk), "message": str(message), "leaf": leaf})


@access.require_methods("GET", "HEAD")
def source(request: HttpRequest, message: uuid.UUID) -> HttpResponse:
    """Return a message's text as written; of a reply that is still being written, the part stored so far."""
    live_run = Run.objects.live().filter(message=message).first()  # before the message: it may end
    own_message = access.get_message_or_404(request, message)
    text = live_run.texts_of_message()[0] if live_run else own_message.text
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


async def _start_run(request: HttpRequest, parse: Callable[[HttpRequest], Command]) -> HttpResponseBase:
    engine = await get_engine()
    # A client that disconnects, or a shutdown that begins, between the stored turn and the launch of its run
    # would leave a turn without a reply: so it is shielded from cancellation, and the engine waits for it.
    sending = engine.sends.keep(asyncio.create_task(_store_and_launch(engine, request, parse)))
    user, run_state = await asyncio.shield(sending)
    if is_form(request):
        return to_conversation(run_state.info.conversation)
    return event_stream(engine, run_state, user, request)


async def _store_and_launch(
    engine: Engine, request: HttpRequest, parse: Callable[[HttpRequest], Command]
) -> tuple[User, RunState]:
    ranked: Ranked | None = None
    for _attempt in range(MAX_RANKINGS):
        await engine.heartbeat.confirm()
        user, stored = await run_in_db(_store, engine, request, parse, ranked)
        if isinstance(stored, StoredTurn):
            return user, await engine.launch(stored)
        ranked = await engine.document_ranking.rank(user.pk, stored)
    raise ConversationBusy(_("Too many requests for this chat at once. Try again."))


def _store(
    engine: Engine,
    request: HttpRequest,
    parse: Callable[[HttpRequest], Command],
    ranked: Ranked | None,
) -> tuple[User, StoredTurn | RankingRequest]:
    """Do all database work of the request in one call on one thread."""
    user = access.get_user(request)
    command = parse(request)
    if not engine.draining:
        with timezone.override(timezone_of(request)):  # an assistant's instructions can name the date
            queued = engine.supervisor.is_full
            return user, engine.turn_store.store(user, command, queued=queued, ranked=ranked)
    if earlier := engine.turn_store.find(user, command):
        return user, earlier
    raise ServiceDraining(_("The server is restarting. Try again in a moment."), retry_after=5)


@access.require_methods("GET", "HEAD")
def actions(request: HttpRequest, message: uuid.UUID) -> HttpResponse:
    """Show the rarer actions on a message: a page, and for scripts the inside of a menu."""
    own_message = access.get_message_or_404(request, message)
    run = own_message.runs.order_by("created").last()
    context = {
        "message": own_message,
        "by": writer_name(access.get_models(request), own_message.model),
        "item": {"run": run and thread.run_context(run, Position(0, 0))},
        "following": len(Message.objects.below(message, deleted=None)) - 1,
        "sharing": links.is_on() and not own_message.conversation.temporary,
        "menu": is_part(request),
    }
    template = "chat/_message_menu.html" if context["menu"] else "chat/message_actions.html"
    return render(request, template, context)


@access.require_methods("POST")
def fork(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Copy the branch up to this message into a new conversation."""
    own_message = access.get_message_or_404(request, message)
    request_parsers.no_fields(request)
    user = access.get_user(request)
    copy = fork_branch(user, own_message.conversation, own_message.pk)
    if is_form(request):
        return to_conversation(copy.pk)
    return JsonResponse({"conversation": str(copy.pk), "message": str(copy.active_leaf_id)}, status=201)


@access.require_methods("POST")
async def delete(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Delete a message and all below it, and stop the reply that is being written there."""
    deleted = await run_in_db(_delete, request, message)
    for run in deleted.runs:
        (await get_engine()).stop(run)
    if is_form(request):
        address = reverse("chat:conversation", args=[deleted.conversation])
        return HttpResponseSeeOther(f"{address}?removed={message}")
    leaf = str(deleted.leaf) if deleted.leaf else None
    return JsonResponse(
        {"conversation": str(deleted.conversation), "message": str(message), "leaf": leaf, "deleted": True}
    )


def _delete(request: HttpRequest, message: uuid.UUID) -> versions.DeletedBranch:
    user: User = access.get_user(request)
    request_parsers.no_fields(request)
    return versions.delete_branch(user, message)


@access.require_methods("POST")
def undelete(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Undo a deletion; a message that is not deleted stays as it is."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    conversation = versions.restore_branch(user, message)
    if is_form(request):
        return to_conversation(conversation.pk, message)
    return JsonResponse({"conversation": str(conversation.pk), "message": str(message), "deleted": False})


@access.require_methods("POST")
async def feedback(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Store a thumb up or down with an optional reason, or remove it; pass it on to the AI Gateway."""
    own_message, up, reason, log_refs = await run_in_db(_rate, request, message)
    (await get_engine()).gateway_feedback.send(log_refs, up)
    if is_form(request):
        return to_conversation(own_message.conversation_id, message)
    return JsonResponse({"message": str(message), "thumb": THUMBS[up], "reason": reason})


def _rate(request: HttpRequest, key: uuid.UUID) -> tuple[Message, bool | None, str, list[GatewayLogRef]]:
    """Store the rating. Return (message, thumb, reason, entries in the gateway's log)."""
    user, message = access.get_user(request), access.get_message_or_404(request, key)
    up, reason = request_parsers.feedback(request)
    if message.role != Message.Role.ASSISTANT:
        raise Conflict(_("Only a reply can be rated."))
    with write_lock(), transaction.atomic():
        if up is None:
            Feedback.objects.filter(message=message).delete()
        else:
            rating = {"user": user, "up": up, "reason": reason, "updated": timezone.now()}
            rating["conversation"] = message.conversation_id
            Feedback.objects.update_or_create(message=message, defaults=rating)
    return message, up, "" if up is None else reason, _log_refs(message) if config.gateway_name() else []


def _log_refs(message: Message) -> list[GatewayLogRef]:
    logged = message.runs.exclude(gateway_log="").order_by("created")
    return [GatewayLogRef(*row) for row in logged.values_list("gateway", "gateway_log")]
