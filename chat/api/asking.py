"""From a call to the model's answer: who may, what is asked, and the row of the log before it is asked."""

import asyncio
import re
import uuid
from collections.abc import Callable

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.engine.calls import Exchange
from chat.engine.database import in_database, writing
from chat.engine.engine import Engine, engine
from chat.engine.kept import Kept
from chat.engine.offering import theirs
from chat.engine.origin import labelled
from chat.engine.refusal import Draining
from chat.models import ApiKey, Call
from chat.upstream import budget, catalogue
from chat.upstream.ask import Ask
from chat.upstream.catalogue import Model

from .bearer import key_of
from .fields import Object, Wanted, read
from .problems import Full, NotAllowed, UnknownModel

AFFINITY = re.compile(r"[\w.:-]{1,100}", re.ASCII)
Reading = Callable[[Object], Wanted]
Begun = tuple[Call, Ask, Kept | None]


async def ask(request: HttpRequest, dialect: str, wanted: Reading) -> tuple[Wanted, Exchange]:
    """`wanted` reads the body. Raises Refusal; then nothing was stored or asked."""
    here = await engine()
    # Shielded: whoever hangs up between the two would leave a row that nobody ends.
    return await asyncio.shield(_start(here, request, dialect, wanted))


async def _start(
    here: Engine, request: HttpRequest, dialect: str, wanted: Reading
) -> tuple[Wanted, Exchange]:
    asked, call, told, kept = await in_database(_begin, here, request, dialect, wanted)
    return asked, here.calls.answer(call, told, kept)


def _begin(
    here: Engine, request: HttpRequest, dialect: str, wanted: Reading
) -> tuple[Wanted, Call, Ask, Kept | None]:
    """All of a call's database work before it is asked, in one go on one thread."""
    key = key_of(request)
    if not key.may_run:
        raise NotAllowed(_("This key may not run models."))
    asked = wanted(read(request))
    model = _model(theirs(here.catalogue, key.user), asked.model)
    if here.draining:
        raise Draining(_("The server is restarting. Try again in a moment."), retry_after=5)
    if here.calls.is_full:
        raise Full(_("Too much is asked at once. Try again in a moment."), retry_after=5)
    told = Ask(
        asked.messages,
        model,
        _max_tokens(asked, model),
        affinity=_affinity(request, key),
        sent=asked.parameters,
        coarse=True,
    )
    told = labelled(told, key.user_id)
    call = Call(
        user=key.user,
        key=key,
        worker_id=here.worker.pk,
        model=model.id,
        dialect=dialect,
        streamed=asked.stream,
    )
    return asked, call, told, _store(call, key, told)


def _store(call: Call, key: ApiKey, told: Ask) -> Kept | None:
    kept = Kept(key.user, told) if key.keeps_conversations else None
    with writing(), transaction.atomic():
        key.note_use()
        if kept:
            kept.begin()
            call.run = kept.run
        call.begin()
    return kept


def _model(offered: catalogue.Catalogue, name: str) -> Model:
    try:
        return offered.get(name)
    except catalogue.UnknownModel as error:
        raise UnknownModel(_("There is no model “%(name)s” here.") % {"name": name[:100]}) from error


def _max_tokens(asked: Wanted, model: Model) -> int:
    """What is asked for, as far as the window may have room for it. Nothing of the history is left out:
    where it is too long, the model says so, and knows better than an estimate."""
    usual = min(model.max_output or budget.REPLY, model.window // budget.SHARE)
    most = asked.max_tokens or usual
    room = model.window - sum(budget.tokens(message, model) for message in asked.messages)
    return max(min(most, room), min(most, budget.SMALLEST_REPLY))


def _affinity(request: HttpRequest, key: ApiKey) -> str:
    """One program's calls often begin alike; it may also name its sessions itself, but not another's."""
    session = request.headers.get("x-session-affinity", "")
    return str(uuid.uuid5(key.pk, session) if AFFINITY.fullmatch(session) else key.pk)
