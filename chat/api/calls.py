"""Start of an API call: authorise and parse it, store its Call row, then send the request to the model."""

import asyncio
import re
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.catalog.catalog import catalog_for_user
from chat.conversations.turns.call_transcript import CallTranscript
from chat.conversations.turns.prompt import with_labels
from chat.db.executor import run_in_db, write_lock
from chat.engine.engine import Engine, get_engine
from chat.engine.generation.api_calls import ActiveCall
from chat.exceptions import ServiceDraining
from chat.models import ApiKey, Call
from chat.upstream import token_budget
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest

from .auth import authenticate
from .document_parts import SentDocument, check_documents, documents_of, recorded, texts_of, with_texts
from .errors import PermissionDenied, TooManyRequests
from .gateway_options import gateway_options
from .messages import check_tool_call_ids
from .models import plain_name, resolve_model, with_adapter
from .picture_parts import check_pictures
from .refusals import Object
from .request_body import CompletionParams, check_capabilities, needs_tool_call_ids, parse_body, parse_params

MIN_DEFAULT_TOKENS = 1_024  # of a reply for which no limit was asked
AFFINITY = re.compile(r"[\w.:-]{1,100}", re.ASCII)
# Returns (name of the model, fields for the model) from a request's body.
BodyReader = Callable[[Object], tuple[object, Object]]


class _CheckedCall(NamedTuple):
    """A checked call that is not stored yet. `name`: the model's in the request."""

    params: CompletionParams
    name: object
    model: LlmModel
    key: ApiKey
    gateway: dict[str, str]


async def start_call(
    request: HttpRequest, dialect: str, read_body: BodyReader
) -> tuple[CompletionParams, ActiveCall]:
    """Check and store a call, and start it.

    Raises RequestError; then nothing was stored, and nothing sent to a model.
    """
    engine = await get_engine()
    checked = await run_in_db(_check, engine, request, dialect, read_body)
    documents = documents_of(checked.params.messages)
    texts = await texts_of(engine.client, checked.key.user_id, documents) if documents else {}
    # Shielded from cancellation: a client that disconnects after the insert would leave a Call row open.
    return checked.params, await asyncio.shield(_start(engine, request, dialect, checked, texts))


async def _start(
    engine: Engine, request: HttpRequest, dialect: str, checked: _CheckedCall, texts: dict[SentDocument, str]
) -> ActiveCall:
    await engine.heartbeat.confirm()
    stored = await run_in_db(_store, engine, request, dialect, checked, texts)
    active_call = ActiveCall(engine.api_calls, *stored)
    if plain_name(checked.name) not in (checked.model.id, checked.model.base):
        active_call.requested = str(checked.name)
    return active_call


def _check(engine: Engine, request: HttpRequest, dialect: str, read_body: BodyReader) -> _CheckedCall:
    key = authenticate(request)
    if not key.may_run:
        raise PermissionDenied(_("This API key isn’t allowed to run models."))
    name, fields = read_body(parse_body(request))
    catalog = catalog_for_user(engine.catalog, key.user)
    # Before the fields are checked: a model of another kind takes other fields, so its request has to fail as
    # one for an unknown model.
    model = resolve_model(catalog, name)
    params = parse_params(fields, model)
    model = with_adapter(catalog, model, params.lora)
    check_capabilities(params, model)
    check_pictures(params.messages, model)
    check_documents(params.messages)
    if dialect == Call.Dialect.OPENAI or needs_tool_call_ids(model):
        check_tool_call_ids(params.messages)
    options = gateway_options(request, fields, key, model)
    _check_capacity(engine)
    return _CheckedCall(params, name, model, key, options)


def _store(
    engine: Engine, request: HttpRequest, dialect: str, checked: _CheckedCall, texts: dict[SentDocument, str]
) -> tuple[Call, ChatRequest, CallTranscript | None]:
    """Store the call, with a line for each document; the request to the model has their `texts`.

    The transcript is the conversation to record, if the key keeps conversations.
    """
    params, _name, model, key, options = checked
    if texts:  # which took a while to read
        key = authenticate(request)
    _check_capacity(engine)
    sent = replace(params, messages=with_texts(params.messages, texts)) if texts else params
    chat_request = ChatRequest(
        sent.messages,
        model,
        reply_limit(sent, model),
        session_affinity=_affinity(request, key),
        raw_parameters=params.parameters,
        batch_reads=True,
        raw=params.raw,
        gateway=options,
    )
    chat_request = with_labels(chat_request, key.user_id)
    call = Call(
        user=key.user,
        key=key,
        worker_id=engine.worker.pk,
        epoch=engine.lease.epoch,
        model=model.id,
        dialect=dialect,
        streamed=params.stream,
    )
    kept = replace(chat_request, messages=recorded(params.messages)) if texts else chat_request
    transcript = CallTranscript(key.user, kept) if key.keeps_conversations else None
    with write_lock(), transaction.atomic():
        key.mark_used()
        if transcript:
            transcript.save()
            call.run = transcript.run
        call.begin()
    return call, chat_request, transcript


def _check_capacity(engine: Engine) -> None:
    """Raise ServiceDraining or TooManyRequests if the server takes no call now."""
    if engine.draining:
        raise ServiceDraining(_("The server is restarting. Try again in a moment."), retry_after=5)
    if engine.api_calls.is_full:
        raise TooManyRequests(_("Too many requests at once. Try again in a moment."), retry_after=5)


def reply_limit(params: CompletionParams, model: LlmModel) -> int:
    """Return the requested max_tokens as it is, else the default, cut to the estimated room in the window.

    The default is at least MIN_DEFAULT_TOKENS: an estimate may be twice too high. Messages are never dropped:
    if they are too long, or too long for the reply, the model rejects them, and it knows their length.
    """
    if params.max_tokens:
        return params.max_tokens
    default = token_budget.default_max_tokens(model)
    room = model.window - token_budget.estimate_tokens(params.messages, model)
    return max(min(default, room), min(default, MIN_DEFAULT_TOKENS))


def _affinity(request: HttpRequest, key: ApiKey) -> str:
    """Return the session affinity, for prefix caching: the key's, as one program's prompts often begin alike.

    With the header `x-session-affinity` it is that session's, hashed with the key so that clients share none.
    """
    session = request.headers.get("x-session-affinity", "")
    return str(uuid.uuid5(key.pk, session) if AFFINITY.fullmatch(session) else key.pk)
