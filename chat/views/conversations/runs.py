"""Views that follow a run, stop it, answer for its calls and explain its end, from any tab and process.

The explanation, with suggestions, is the same on a loaded page and after a live stream.
"""

import json
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from chat.accounts.timezones import timezone_of
from chat.conversations.turns import waiting
from chat.db.executor import run_in_db, write_lock
from chat.engine.engine import get_engine
from chat.engine.outcome import THINKING_CODE, fallback_message
from chat.exceptions import BadRequest
from chat.formats import grouped_number
from chat.models import Citation, Run, Step, User
from chat.models.citation import by_source
from chat.ownership.recovery import request_stop
from chat.upstream.catalog import Catalog, LlmModel, Provider
from chat.upstream.errors import ErrorKind
from chat.upstream.parameters import Value, supported_parameters
from chat.wire.position import Position

from ..requests import access, request_parsers
from ..requests.request_fields import is_form
from ..requests.responses import event_stream, to_conversation

# Suggestions per error code, the best first. `again`: retry unchanged; `models`: choose another model;
# `shorten` and `reword`: change the question.
RETRY_SUGGESTIONS = ("again", "models")
SUGGESTIONS = {
    "auth": ("again",),
    "blocked": ("reword", "models"),
    "interrupted": ("again",),
    "invalid": ("models", "again"),
    "not_permitted": ("models", "again"),
    "quota": ("models", "again"),
    "too_long": ("shorten", "models"),
    "server": ("again",),
    "unknown_model": ("models", "again"),
}
# Error codes that only the administrator can resolve, with the page of the Cloudflare dashboard.
DASHBOARD = "https://dash.cloudflare.com/?to=/:account"
ADMINISTRATOR_HINTS = {
    "auth": f"{DASHBOARD}/api-tokens",
    "credits": f"{DASHBOARD}/billing",
    "not_permitted": f"{DASHBOARD}/workers/plans",
    "quota": f"{DASHBOARD}/workers/plans",
}
MORE_TOKENS = 2  # factor on the max_tokens of the last attempt
MAX_COUNTDOWN_SECONDS = 900.0  # for a longer wait the retry button has no countdown


@access.require_methods("GET")
async def stream(request: HttpRequest, run: uuid.UUID) -> HttpResponseBase:
    """Stream the run from the position in `Last-Event-ID` or `?after=`, otherwise from its beginning."""
    engine = await get_engine()
    user, own_run, position = await run_in_db(_find, request, run)
    state = await engine.follow(own_run)
    return event_stream(engine, state, user, request, position)


def _find(request: HttpRequest, run: uuid.UUID) -> tuple[User, Run, Position]:
    own_run = access.get_run_or_404(request, run)
    return access.get_user(request), own_run, _position(request)


def _position(request: HttpRequest) -> Position:
    sent = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    if not sent:
        return Position()
    try:
        return Position.parse(sent)
    except ValueError as error:
        raise BadRequest(_("This isn’t a valid position in the stream.")) from error


@access.require_methods("POST")
async def stop(request: HttpRequest, run: uuid.UUID) -> HttpResponseBase:
    """Request the stop of a run; its stream tells when it has stopped.

    The request is stored in the run's row first, because the pub/sub message to the owner may get lost.
    """
    engine = await get_engine()
    own_run = await run_in_db(_request_stop, request, run)
    engine.stop(own_run)
    if is_form(request):
        return to_conversation(own_run.conversation_id)
    return HttpResponse(status=202)


def _request_stop(request: HttpRequest, run: uuid.UUID) -> Run:
    own_run = access.get_run_or_404(request, run)
    if own_run.is_live:
        with write_lock(), transaction.atomic():
            request_stop(Run.objects.filter(pk=own_run.pk))
    return own_run


@access.require_methods("POST")
async def allow_step(request: HttpRequest, run: uuid.UUID, number: int) -> HttpResponseBase:
    """Allow a call of a tool that waits for the person: once, or for all of the conversation.

    The reply goes on once all of its calls are answered; its stream shows it.
    """
    return await _answer(request, run, number, request_parsers.step_permission)


@access.require_methods("POST")
async def decline_step(request: HttpRequest, run: uuid.UUID, number: int) -> HttpResponseBase:
    """Decline a call of a tool that waits for the person. The model answers without it."""
    return await _answer(request, run, number, request_parsers.step_refusal)


async def _answer(
    request: HttpRequest, run: uuid.UUID, number: int, parse: Callable[[HttpRequest], Step.Answer]
) -> HttpResponseBase:
    engine = await get_engine()
    step, conversation = await run_in_db(_store_answer, request, run, number, parse)
    await engine.waiting_runs.go_on(run)
    if is_form(request):
        return to_conversation(conversation)
    return JsonResponse({"run": str(run), "n": step.number, "answer": step.answer}, status=202)


def _store_answer(
    request: HttpRequest, run: uuid.UUID, number: int, parse: Callable[[HttpRequest], Step.Answer]
) -> tuple[Step, uuid.UUID]:
    own_run = access.get_run_or_404(request, run)
    return waiting.answer(own_run, number, parse(request)), own_run.conversation_id


@access.require_methods("GET", "HEAD")
def outcome(request: HttpRequest, message: uuid.UUID) -> HttpResponse:
    """Return the HTML below a reply: its sources, and an explanation of how it ended."""
    own_message, models = access.get_message_or_404(request, message), access.get_models(request)
    run = own_message.runs.order_by("created").last()
    item: dict[str, Any] = {"id": own_message.pk, "run": run and outcome_context(run)}
    if run and run.cited:
        item["sources"] = by_source(Citation.objects.filter(message=own_message))
    chosen = own_message.conversation
    next_model = models.resolve_or_default(chosen.model)
    add_suggestions(item, models, next_model, chosen.parameters, timezone_of(request))
    return render(request, "chat/_outcome.html", {"item": item, "models": models})


def outcome_context(run: Run) -> dict[str, Any]:
    return {
        "status": run.status,
        "message": run.error_message,
        "code": run.error_code,
        "request_id": run.request_id if run.error_code else "",
        "ways": SUGGESTIONS.get(run.error_code, RETRY_SUGGESTIONS)
        if run.error_code
        else RETRY_SUGGESTIONS[:1],
        "administrators": ADMINISTRATOR_HINTS.get(run.error_code, ""),
        "retry_after": wait if (wait := run.retry_after) and wait <= MAX_COUNTDOWN_SECONDS else None,
        "retry_at": run.retry_at if run.retry_after else None,
        "requested_model": run.model,
        "max_tokens": run.max_tokens,
        "answered_by": run.answered_by,
        "fallback_reason": run.fallback_reason,
    }


def add_suggestions(
    item: dict[str, Any], offered: Catalog, model: LlmModel, chosen: Mapping[str, Value], zone: tzinfo
) -> None:
    """Add to a message's context the fallback model's notice and the suggestions that depend on the models.

    Suggestions are added where thinking used up all tokens, and limited where the daily quota is used up.
    `model` would answer next in the conversation, with its parameters `chosen`. Times are in `zone`.
    """
    if not (run := item["run"]):
        return
    if run["answered_by"]:
        answering, requested = (offered.name_of(run[key]) for key in ("answered_by", "requested_model"))
        run["fallback_note"] = fallback_message(run["fallback_reason"], answering, requested)
    if run["code"] == THINKING_CODE:
        item["offers"] = retry_offers(model, chosen, run["max_tokens"])
    if run["code"] == ErrorKind.QUOTA:
        _limit_to_what_helps(run, offered, zone)


def _limit_to_what_helps(run: dict[str, Any], offered: Catalog, zone: tzinfo) -> None:
    """Drop suggestions that cannot help: a used-up quota blocks all models of the account until its reset."""
    requested = offered.resolve_or_default(run["requested_model"])
    run["others"] = [other.id for other in offered if not _share_an_account(other, requested)]
    useless = set() if run["others"] else {"models"}
    if run["retry_at"]:
        useless.add("again")
        if requested.counts_against_quota:
            run["renewed"] = _time(run["retry_at"].astimezone(zone))
    run["ways"] = tuple(way for way in run["ways"] if way not in useless)


def _share_an_account(one: LlmModel, other: LlmModel) -> bool:
    if one.local or other.local:
        return one.local == other.local
    return one.host is other.host or {one.host, other.host} == {Provider.WORKERS_AI, Provider.AI_SEARCH}


def _time(moment: datetime) -> str:
    return f"{date_format(moment, 'TIME_FORMAT')} {moment.tzname()}"


def retry_offers(model: LlmModel, chosen: Mapping[str, Value], had: int) -> list[dict[str, Any]]:
    """Return the retries as form buttons, each of which changes one parameter. `had`: the last max_tokens."""
    takes = {parameter.name: parameter for parameter in supported_parameters(model)}
    offers = []
    most = int(takes["max_tokens"].maximum) if "max_tokens" in takes else had
    more = min(had * MORE_TOKENS, most)
    if more > had:
        words = _("Try again with %(tokens)s tokens") % {"tokens": grouped_number(more)}
        offers.append(_offer("max_tokens", more, str(more), words))
    thinks = chosen.get("thinking", True)
    if thinks and (effort := takes.get("effort")):
        least, now = effort.levels[0], chosen.get("effort", effort.default)
        if now is not None and effort.clamp(now) != least:
            offers.append(_offer("effort", least, least, _("Try again with less thinking")))
    if thinks and "thinking" in takes:
        offers.append(_offer("thinking", False, "off", _("Try again without thinking")))
    return offers


def _offer(name: str, value: Value, form_value: str, words: str) -> dict[str, Any]:
    """Return the context of a button: `value` for a form, `parameters` as JSON for the page's script."""
    return {"name": name, "value": form_value, "parameters": json.dumps({name: value}), "words": words}
