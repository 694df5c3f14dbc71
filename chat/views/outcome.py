"""Explanation of how a reply ended, with suggestions: the same on a loaded page and after a live stream."""

import uuid
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.formats import date_format

from chat.db import run_in_db
from chat.engine.engine import Engine, get_engine
from chat.engine.outcome import THINKING, fallback_message
from chat.model_catalog.catalog import catalog_for_user
from chat.models import Run
from chat.timezones import timezone_of
from chat.upstream.catalogue import Catalogue, LlmModel
from chat.upstream.errors import ErrorKind
from chat.upstream.parameters import Value

from . import access, retry_offers

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
ADMINISTRATORS = {
    "auth": f"{DASHBOARD}/api-tokens",
    "credits": f"{DASHBOARD}/billing",
    "not_permitted": f"{DASHBOARD}/workers/plans",
    "quota": f"{DASHBOARD}/workers/plans",
}
LONGEST_WAIT = 900.0  # seconds; for a longer wait the page offers no button that waits and retries


@access.require_methods("GET", "HEAD")
async def outcome(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Return the part of a reply's HTML that tells how it ended."""
    return await run_in_db(_outcome, await get_engine(), request, message)


def _outcome(engine: Engine, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    message = access.get_message_or_404(request, key)
    run = message.runs.order_by("created").last()
    offered = catalog_for_user(engine.catalogue, access.get_user(request))
    item: dict[str, Any] = {"id": message.pk, "run": run and outcome_context(run)}
    conversation = message.conversation
    add_suggestions(
        item,
        offered,
        offered.resolve_or_default(conversation.model),
        conversation.parameters,
        timezone_of(request),
    )
    return render(request, "chat/_outcome.html", {"item": item, "models": offered})


def outcome_context(run: Run) -> dict[str, Any]:
    """Return the template's context for the end of a run."""
    return {
        "status": run.status,
        "message": run.error_message,
        "code": run.error_code,
        "request_id": run.request_id if run.error_code else "",
        "ways": SUGGESTIONS.get(run.error_code, RETRY_SUGGESTIONS)
        if run.error_code
        else RETRY_SUGGESTIONS[:1],
        "administrators": ADMINISTRATORS.get(run.error_code, ""),
        "retry_after": wait if (wait := run.retry_after) and wait <= LONGEST_WAIT else None,
        "retry_at": run.retry_at if run.retry_after else None,
        "asked": run.model,
        "max_tokens": run.max_tokens,
        "answered_by": run.answered_by,
        "because": run.fallback_reason,
    }


def add_suggestions(
    item: dict[str, Any], offered: Catalogue, model: LlmModel, chosen: Mapping[str, Value], zone: tzinfo
) -> None:
    """Add to a message's context the fallback model's notice and the suggestions that depend on the models.

    Suggestions are added where thinking used up all tokens, and limited where the daily quota is used up.
    `model` would answer next in the conversation, with its parameters `chosen`. Times are in `zone`.
    """
    if not (run := item["run"]):
        return
    if run["answered_by"]:
        by, asked = (offered.name_of(run[key]) for key in ("answered_by", "asked"))
        run["instead"] = fallback_message(run["because"], by, asked)
    if run["code"] == THINKING:
        item["offers"] = retry_offers.offers(model, chosen, run["max_tokens"])
    if run["code"] == ErrorKind.QUOTA:
        _limit_to_what_helps(run, offered, zone)


def _limit_to_what_helps(run: dict[str, Any], offered: Catalogue, zone: tzinfo) -> None:
    """Drop suggestions that cannot help: a used-up quota blocks all models of the account until its reset."""
    asked = offered.resolve_or_default(run["asked"])
    run["others"] = [other.id for other in offered if not _share_an_account(other, asked)]
    useless = set() if run["others"] else {"models"}
    if run["retry_at"]:
        useless.add("again")
        if asked.counts_against_quota:
            run["renewed"] = _time(run["retry_at"].astimezone(zone))
    run["ways"] = tuple(way for way in run["ways"] if way not in useless)


def _share_an_account(one: LlmModel, other: LlmModel) -> bool:
    return one.local == other.local and one.host is other.host


def _time(moment: datetime) -> str:
    """Return the time of day with its time zone."""
    return f"{date_format(moment, 'TIME_FORMAT')} {moment.tzname()}"
