"""From a call to the model's answer: who may, what is asked, and the row of the log before it is asked."""

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
# From a call's body to the model that it names and the fields that are for it.
BodyReader = Callable[[Object], tuple[object, Object]]


class _PreparedCall(NamedTuple):
    """`requested` is the name that the call gave for the model, where another one answers."""

    asked: CompletionParams
    requested: str
    call: Call
    told: ChatRequest
    kept: CallTranscript | None


async def start_call(
    request: HttpRequest, dialect: str, reading: BodyReader
) -> tuple[CompletionParams, ActiveCall]:
    """Raises RequestError; then nothing was stored or asked."""
    here = await get_engine()
    # Shielded: whoever hangs up between the two would leave a row that nobody ends.
    return await asyncio.shield(_start(here, request, dialect, reading))


async def _start(
    here: Engine, request: HttpRequest, dialect: str, reading: BodyReader
) -> tuple[CompletionParams, ActiveCall]:
    await here.heartbeat.confirm()
    # By key, which is known before the database is asked: many calls of one hold up no other.
    async with here.api_calls.beginnings.of(request.headers.get("Authorization", "")):
        begun = await run_in_db(_begin, here, request, dialect, reading)
    exchange = here.api_calls.start(begun.call, begun.told, begun.kept)
    exchange.requested = begun.requested
    return begun.asked, exchange


def _begin(here: Engine, request: HttpRequest, dialect: str, reading: BodyReader) -> _PreparedCall:
    """All of a call's database work before it is asked, in one go on one thread."""
    key = authenticate(request)
    if not key.may_run:
        raise PermissionDenied(_("This key may not run models."))
    name, sent = reading(parse_body(request))
    offered = catalog_for_user(here.catalogue, key.user)
    # First the model: one that is not for chat takes other fields.
    model = resolve_model(offered, name)
    asked = parse_params(sent)
    model = with_adapter(offered, model, asked.lora)
    check_capabilities(asked, model)
    options = gateway_options(request, sent, key, model)
    if here.draining:
        raise ServiceDraining(_("The server is restarting. Try again in a moment."), retry_after=5)
    if here.api_calls.is_full:
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
        worker_id=here.worker.pk,
        epoch=here.lease.epoch,
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
    """What is asked for, as far as the window may have room for it. Nothing of the history is left out:
    where it is too long, the model says so, and knows better than an estimate."""
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
    """One program's calls often begin alike; it may also name its sessions itself, but not another's."""
    session = request.headers.get("x-session-affinity", "")
    return str(uuid.uuid5(key.pk, session) if AFFINITY.fullmatch(session) else key.pk)
