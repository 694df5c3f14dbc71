"""How a reply ended, in words, and what can be done about it: the same on a loaded page and on a live one."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from chat.engine import substitute
from chat.engine.database import in_database
from chat.engine.ending import THINKING
from chat.engine.engine import Engine, engine
from chat.engine.offering import theirs
from chat.models import Run
from chat.upstream.catalogue import Catalogue, Model
from chat.upstream.parameters import Value

from . import gate, offers

# What helps against each failure, the best first. `again`: the same once more; `models`: another model;
# `shorten` and `reword`: another question.
AGAIN = ("again", "models")
WAYS = {
    "auth": ("again",),
    "blocked": ("reword",),
    "interrupted": ("again",),
    "invalid": ("models", "again"),
    "not_permitted": ("models", "again"),
    "quota": ("models", "again"),
    "too_long": ("shorten", "models"),
    "server": ("again",),
    "unknown_model": ("models", "again"),
}
# Whom only the administrator can help, with where at Cloudflare.
DASHBOARD = "https://dash.cloudflare.com/?to=/:account"
ADMINISTRATORS = {
    "auth": f"{DASHBOARD}/api-tokens",
    "credits": f"{DASHBOARD}/billing",
    "not_permitted": f"{DASHBOARD}/workers/plans",
    "quota": f"{DASHBOARD}/workers/plans",
}
LONGEST_WAIT = 900.0  # seconds that a page offers to wait; who is told to come back later comes back later


@gate.takes("GET", "HEAD")
async def outcome(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """The part of a reply's article that says how it ended."""
    return await in_database(_outcome, await engine(), request, message)


def _outcome(here: Engine, request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    message = gate.own_message(request, key)
    run = message.runs.order_by("created").last()
    offered = theirs(here.catalogue, gate.signed_in(request))
    item: dict[str, Any] = {"id": message.pk, "run": run and told(run)}
    conversation = message.conversation
    complete(item, offered, offered.usable(conversation.model), conversation.parameters)
    return render(request, "chat/_outcome.html", {"item": item, "models": offered})


def told(run: Run) -> dict[str, Any]:
    """What the template says of a run's end."""
    return {
        "status": run.status,
        "message": run.error_message,
        "code": run.error_code,
        "request_id": run.request_id if run.error_code else "",
        "ways": WAYS.get(run.error_code, AGAIN) if run.error_code else AGAIN[:1],
        "administrators": ADMINISTRATORS.get(run.error_code, ""),
        "retry_after": wait if (wait := run.retry_after) and wait <= LONGEST_WAIT else None,
        "asked": run.model,
        "max_tokens": run.max_tokens,
        "answered_by": run.answered_by,
        "because": run.because,
    }


def complete(item: dict[str, Any], offered: Catalogue, model: Model, chosen: Mapping[str, Value]) -> None:
    """Say of a message who answered instead, and where thinking took all its tokens what else may be tried.

    `model` would answer next in its conversation, with the parameters `chosen` there.
    """
    if not (run := item["run"]):
        return
    if run["answered_by"]:
        by, asked = (offered.name_of(run[key]) for key in ("answered_by", "asked"))
        run["instead"] = substitute.told(run["because"], by, asked)
    if run["code"] == THINKING:
        item["offers"] = offers.offers(model, chosen, run["max_tokens"])
