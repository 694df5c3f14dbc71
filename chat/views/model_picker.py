"""The models to choose from, each with what a person wants to know before choosing."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from chat.db import run_in_db
from chat.engine.engine import Engine, get_engine
from chat.model_catalog.catalog import catalog_for_user
from chat.upstream.catalogue import LlmModel
from chat.upstream.provider import Provider

from . import access

FILTERED = 8  # more than so many are easier found by typing


@access.require_methods("GET", "HEAD")
async def choice(request: HttpRequest) -> HttpResponseBase:
    """What the page's dialog shows; fetched when it is opened first. `?was=` is a model that has retired."""
    return await run_in_db(_choice, await get_engine(), request)


def _choice(here: Engine, request: HttpRequest) -> HttpResponse:
    offered = catalog_for_user(here.catalogue, access.get_user(request))
    models = [facts(model) for model in offered]
    retired = offered.retired(request.GET.get("was", ""))
    context = {
        "models": models,
        "filtered": len(models) > FILTERED,
        "retired": retired,
        "successor": offered.successor(retired).name if retired else "",
    }
    return render(request, "chat/_models.html", context)


def facts(model: LlmModel) -> dict[str, Any]:
    return {
        "id": model.id,
        "name": model.name,
        "window": tokens(model.window),
        "price_in": dollars(model.price_in),
        "price_out": dollars(model.price_out),
        "free": not (model.price_in or model.price_out) and (model.local or model.price_in == 0),
        "reasoning": model.reasoning or model.inline_reasoning,
        "vision": model.vision,
        "tools": model.tools,
        "local": model.local,
        "finetune": bool(model.finetune),
        "beta": model.beta,
        "paid": model.paid,
        "retires": model.retires,
        "host": _host(model),
    }


def _host(model: LlmModel) -> str:
    """Who is told what one asks, where that is not Workers AI."""
    if model.host is Provider.GATEWAY:
        return _("AI Gateway")
    return urlsplit(settings.OPENAI_BASE_URL).hostname or "" if model.host is Provider.ENDPOINT else ""


def tokens(window: int) -> str:
    """131072 and 128000 both read 128k, as their makers write them."""
    thousand = 1000 if window % 100 == 0 else 1024
    if window >= thousand**2:
        return f"{window / thousand**2:.3g}M"
    return f"{window / thousand:.3g}k"


def dollars(price: float | None) -> str:
    """With two decimals, and three where they say something; '' where nobody knows."""
    if price is None:
        return ""
    return f"${price:.3f}".removesuffix("0")
