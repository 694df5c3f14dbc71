"""Views of messages: those that start a run, the selection of a version, and the source text.

A view that starts a run stores the turn, launches the run, and responds with its event stream.
"""

import asyncio
import uuid
from collections.abc import Callable
from functools import partial

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.accounts.timezones import timezone_of
from chat.conversations.turns.commands import Command
from chat.conversations.turns.store import StoredTurn, select_version
from chat.db.executor import run_in_db
from chat.engine.engine import Engine, get_engine
from chat.engine.streaming.run_state import RunState
from chat.exceptions import ConversationBusy, NotAuthenticated, RequestError, ServiceDraining
from chat.files.passages.best_passages import Ranked, RankingRequest
from chat.models import User

from .. import pages
from ..accounts import login
from ..requests import access, form_files, request_parsers
from ..requests.errors import is_form, wants_json
from ..requests.responses import event_stream, to_conversation, to_message

# For one send, because other turns of the conversation may change what has to be ranked.
MAX_RANKINGS = 4


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
    """Generate another version of a reply."""
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
    conversation = select_version(user, message)
    if is_form(request):
        redirect = to_message if "at" in request.GET else to_conversation
        return redirect(conversation.pk, message)
    leaf = str(conversation.active_leaf_id)
    return JsonResponse({"conversation": str(conversation.pk), "message": str(message), "leaf": leaf})


@access.require_methods("GET", "HEAD")
def source(request: HttpRequest, message: uuid.UUID) -> HttpResponse:
    """Return a message's text as written; of a reply that is still being written, the part stored so far."""
    own_message = access.get_message_or_404(request, message)
    live_run = own_message.runs.live().first()
    text = own_message.text + (live_run.texts()[0] if live_run else "")
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


async def _start_run(request: HttpRequest, parse: Callable[[HttpRequest], Command]) -> HttpResponseBase:
    engine = await get_engine()
    # Shielded from cancellation: a client that disconnects between the stored turn and the launch of its run
    # would leave a turn without a reply.
    user, run_state = await asyncio.shield(_store_and_launch(engine, request, parse))
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
    raise ConversationBusy(_("Too many requests for this conversation at once. Try again."))


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
