"""From a call to the model's answer: who may, what is asked, and the row of the log before it is asked."""

import asyncio
import re
import uuid
from collections.abc import Callable
from typing import NamedTuple

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.db import in_database, writing
from chat.engine.engine import Engine, engine
from chat.engine.generation.api_calls import Exchange
from chat.exceptions import Draining
from chat.model_catalog.catalog import theirs
from chat.models import ApiKey, Call
from chat.turns.call_transcript import Kept
from chat.turns.request_metadata import labelled
from chat.upstream import token_budget
from chat.upstream.catalogue import Model
from chat.upstream.chat_request import Ask

from .auth import key_of
from .errors import Full, NotAllowed
from .field_checks import Object
from .gateway_options import gateway_options
from .model_capabilities import readable, refuse_unfit
from .model_names import answering, with_adapter
from .request_body import Wanted, read, wanted

AFFINITY = re.compile(r"[\w.:-]{1,100}", re.ASCII)
# From a call's body to the model that it names and the fields that are for it.
Reading = Callable[[Object], tuple[object, Object]]


class _Begun(NamedTuple):
    """`requested` is the name that the call gave for the model, where another one answers."""

    asked: Wanted
    requested: str
    call: Call
    told: Ask
    kept: Kept | None


async def ask(request: HttpRequest, dialect: str, reading: Reading) -> tuple[Wanted, Exchange]:
    """Raises Refusal; then nothing was stored or asked."""
    here = await engine()
    # Shielded: whoever hangs up between the two would leave a row that nobody ends.
    return await asyncio.shield(_start(here, request, dialect, reading))


async def _start(
    here: Engine, request: HttpRequest, dialect: str, reading: Reading
) -> tuple[Wanted, Exchange]:
    await here.heartbeat.confirm()
    # By key, which is known before the database is asked: many calls of one hold up no other.
    async with here.calls.beginnings.of(request.headers.get("Authorization", "")):
        begun = await in_database(_begin, here, request, dialect, reading)
    exchange = here.calls.answer(begun.call, begun.told, begun.kept)
    exchange.requested = begun.requested
    return begun.asked, exchange


def _begin(here: Engine, request: HttpRequest, dialect: str, reading: Reading) -> _Begun:
    """All of a call's database work before it is asked, in one go on one thread."""
    key = key_of(request)
    if not key.may_run:
        raise NotAllowed(_("This key may not run models."))
    name, sent = reading(read(request))
    offered = theirs(here.catalogue, key.user)
    # First the model: one that is not for chat takes other fields.
    model = answering(offered, name)
    asked = wanted(sent)
    model = with_adapter(offered, model, asked.lora)
    refuse_unfit(asked, model)
    options = gateway_options(request, sent, key, model)
    if here.draining:
        raise Draining(_("The server is restarting. Try again in a moment."), retry_after=5)
    if here.calls.is_full:
        raise Full(_("Too much is asked at once. Try again in a moment."), retry_after=5)
    told = Ask(
        readable(asked.messages, model),
        model,
        _max_tokens(asked, model),
        affinity=_affinity(request, key),
        sent=asked.parameters,
        coarse=True,
        raw=asked.raw,
        gateway=options,
    )
    told = labelled(told, key.user_id)
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
    return _Begun(asked, requested, call, told, _store(call, key, told))


def _store(call: Call, key: ApiKey, told: Ask) -> Kept | None:
    kept = Kept(key.user, told) if key.keeps_conversations else None
    with writing(), transaction.atomic():
        key.note_use()
        if kept:
            kept.begin()
            call.run = kept.run
        call.begin()
    return kept


def _max_tokens(asked: Wanted, model: Model) -> int:
    """What is asked for, as far as the window may have room for it. Nothing of the history is left out:
    where it is too long, the model says so, and knows better than an estimate."""
    usual = min(model.max_output or token_budget.REPLY, model.window // token_budget.SHARE)
    most = asked.max_tokens or usual
    room = model.window - sum(_tokens(message, model) for message in readable(asked.messages, model))
    return max(min(most, room), min(most, token_budget.SMALLEST_REPLY))


def _tokens(message: Object, model: Model) -> int:
    thought = message.get("reasoning", "")
    return token_budget.tokens({"content": message["content"] + thought}, model)


def _affinity(request: HttpRequest, key: ApiKey) -> str:
    """One program's calls often begin alike; it may also name its sessions itself, but not another's."""
    session = request.headers.get("x-session-affinity", "")
    return str(uuid.uuid5(key.pk, session) if AFFINITY.fullmatch(session) else key.pk)
