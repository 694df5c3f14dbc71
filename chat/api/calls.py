"""Start of an API call: authorise and parse it, store its Call row, then send the request to the model."""

import asyncio
import re
import uuid
from collections.abc import Callable
from typing import NamedTuple

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.db import run_in_db, write_lock
from chat.engine.engine import Engine, get_engine
from chat.engine.generation.api_calls import ActiveCall
from chat.exceptions import ServiceDraining
from chat.model_catalog.catalog import catalog_for_user
from chat.models import ApiKey, Call
from chat.turns.call_transcript import CallTranscript
from chat.turns.request_metadata import with_labels
from chat.upstream import token_budget
from chat.upstream.catalogue import LlmModel
from chat.upstream.chat_request import ChatRequest

from .auth import authenticate
from .errors import PermissionDenied, TooManyRequests
from .field_checks import Object
from .gateway_options import gateway_options
from .model_capabilities import check_capabilities, without_unread_reasoning
from .model_names import resolve_model, with_adapter
from .request_body import CompletionParams, parse_body, parse_params

AFFINITY = re.compile(r"[\w.:-]{1,100}", re.ASCII)
# Returns (name of the model, fields for the model) from a request's body.
BodyReader = Callable[[Object], tuple[object, Object]]


class _PreparedCall(NamedTuple):
    """A checked call whose row is stored. `asked`: parsed parameters; `told`: the request to the model.

    `requested`: the model's name in the request if another model replies, otherwise "". `kept`: the
    conversation to record, if the key keeps conversations.
    """

    asked: CompletionParams
    requested: str
    call: Call
    told: ChatRequest
    kept: CallTranscript | None


async def start_call(
    request: HttpRequest, dialect: str, reading: BodyReader
) -> tuple[CompletionParams, ActiveCall]:
    """Check and store a call, and start it.

    Raises RequestError; then nothing was stored, and nothing sent to a model.
    """
    engine = await get_engine()
    # Shielded from cancellation: a client that disconnects after the insert would leave a Call row open.
    return await asyncio.shield(_start(engine, request, dialect, reading))


async def _start(
    engine: Engine, request: HttpRequest, dialect: str, reading: BodyReader
) -> tuple[CompletionParams, ActiveCall]:
    await engine.heartbeat.confirm()
    # Limited per key, known before any query, so that many calls with one key delay no others.
    async with engine.api_calls.beginnings.of(request.headers.get("Authorization", "")):
        begun = await run_in_db(_begin, engine, request, dialect, reading)
    exchange = engine.api_calls.start(begun.call, begun.told, begun.kept)
    exchange.requested = begun.requested
    return begun.asked, exchange


def _begin(engine: Engine, request: HttpRequest, dialect: str, reading: BodyReader) -> _PreparedCall:
    """Do all database work before the request to the model, in one call on one thread."""
    key = authenticate(request)
    if not key.may_run:
        raise PermissionDenied(_("This key may not run models."))
    name, sent = reading(parse_body(request))
    offered = catalog_for_user(engine.catalogue, key.user)
    # Before the fields are checked: a model of another kind takes other fields, so its request has to fail as
    # one for an unknown model.
    model = resolve_model(offered, name)
    asked = parse_params(sent)
    model = with_adapter(offered, model, asked.lora)
    check_capabilities(asked, model)
    options = gateway_options(request, sent, key, model)
    if engine.draining:
        raise ServiceDraining(_("The server is restarting. Try again in a moment."), retry_after=5)
    if engine.api_calls.is_full:
        raise TooManyRequests(_("Too much is asked at once. Try again in a moment."), retry_after=5)
    told = ChatRequest(
        without_unread_reasoning(asked.messages, model),
        model,
        _max_tokens(asked, model),
        session_affinity=_affinity(request, key),
        raw_parameters=asked.parameters,
        batch_reads=True,
        raw=asked.raw,
        gateway=options,
    )
    told = with_labels(told, key.user_id)
    call = Call(
        user=key.user,
        key=key,
        worker_id=engine.worker.pk,
        epoch=engine.lease.epoch,
        model=model.id,
        dialect=dialect,
        streamed=asked.stream,
    )
    requested = str(name) if name not in (model.id, model.base) else ""
    return _PreparedCall(asked, requested, call, told, _store(call, key, told))


def _store(call: Call, key: ApiKey, told: ChatRequest) -> CallTranscript | None:
    kept = CallTranscript(key.user, told) if key.keeps_conversations else None
    with write_lock(), transaction.atomic():
        key.mark_used()
        if kept:
            kept.save()
            call.run = kept.run
        call.begin()
    return kept


def _max_tokens(asked: CompletionParams, model: LlmModel) -> int:
    """Return the requested or default max_tokens, cut to the estimated room in the context window.

    It is at least MIN_REPLY_TOKENS, unless less is requested. Messages are never dropped: if they are too
    long, the model rejects them, and it knows their length better than an estimate.
    """
    usual = min(
        model.max_output or token_budget.DEFAULT_MAX_TOKENS,
        model.window // token_budget.DEFAULT_REPLY_DIVISOR,
    )
    most = asked.max_tokens or usual
    room = model.window - sum(
        _tokens(message, model) for message in without_unread_reasoning(asked.messages, model)
    )
    return max(min(most, room), min(most, token_budget.MIN_REPLY_TOKENS))


def _tokens(message: Object, model: LlmModel) -> int:
    thought = message.get("reasoning", "")
    return token_budget.estimate_tokens({"content": message["content"] + thought}, model)


def _affinity(request: HttpRequest, key: ApiKey) -> str:
    """Return the session affinity, for prefix caching: the key's, as one program's prompts often begin alike.

    With the header `x-session-affinity` it is that session's, hashed with the key so that clients share none.
    """
    session = request.headers.get("x-session-affinity", "")
    return str(uuid.uuid5(key.pk, session) if AFFINITY.fullmatch(session) else key.pk)
