"""Views that start a run: each stores the turn, launches the run, and responds with its event stream."""

import asyncio
import uuid
from collections.abc import Callable
from functools import partial

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db import run_in_db
from chat.engine.engine import Engine, get_engine
from chat.engine.streaming.run_state import RunState
from chat.exceptions import NotAuthenticated, RequestError, ServiceDraining
from chat.models import User
from chat.turns.commands import Turn
from chat.turns.store import StoredTurn

from . import access, login, pages, request_parsers
from .errors import is_form, wants_json
from .redirects import to_conversation
from .sse_response import stream


@access.require_methods("POST")
async def new_conversation(request: HttpRequest) -> HttpResponseBase:
    """Start a new conversation with its first turn."""
    return await _question(request, None)


@access.require_methods("POST")
async def send(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Add a turn to a conversation."""
    return await _question(request, conversation)


@access.require_methods("POST")
async def edit(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Add an edited version of a question as a new branch beside the old one, and have it answered."""
    return await _ask(request, partial(request_parsers.edit, message=message))


@access.require_methods("POST")
async def regenerate(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Generate another version of a reply."""
    return await _ask(request, partial(request_parsers.regeneration, message=message))


@access.require_methods("POST")
async def continue_reply(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Continue a reply that was cut short."""
    return await _ask(request, partial(request_parsers.continuation, message=message))


async def _question(request: HttpRequest, conversation: uuid.UUID | None) -> HttpResponseBase:
    try:
        return await _ask(request, partial(request_parsers.question, conversation=conversation))
    except RequestError as refusal:
        if not is_form(request) or wants_json(request):
            raise
        if isinstance(refusal, NotAuthenticated):
            return await run_in_db(login.login_with_pending_message, request)
        return await pages.render_rejected(await get_engine(), request, conversation, refusal)


async def _ask(request: HttpRequest, read: Callable[[HttpRequest], Turn]) -> HttpResponseBase:
    engine = await get_engine()
    # Shielded from cancellation: a client that disconnects between the stored turn and the launch of its run
    # would leave a turn without a reply.
    user, live = await asyncio.shield(_start(engine, request, read))
    if is_form(request):
        return to_conversation(live.info.conversation)
    return stream(engine, live, user, request)


async def _start(
    engine: Engine, request: HttpRequest, read: Callable[[HttpRequest], Turn]
) -> tuple[User, RunState]:
    await engine.heartbeat.confirm()
    user, opened = await run_in_db(_open, engine, request, read)
    return user, await engine.launch(opened)


def _open(
    engine: Engine, request: HttpRequest, read: Callable[[HttpRequest], Turn]
) -> tuple[User, StoredTurn]:
    """Do all database work of the request in one call on one thread."""
    user = access.get_user(request)
    turn = read(request)
    if not engine.draining:
        return user, engine.turn_store.store(user, turn, queued=engine.supervisor.is_full)
    if earlier := engine.turn_store.find(user, turn):
        return user, earlier
    raise ServiceDraining(_("The server is restarting. Try again in a moment."), retry_after=5)
