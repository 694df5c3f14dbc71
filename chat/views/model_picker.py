"""The dialog to choose a model, with the price, the context window and the features of each."""

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

FILTERED = 8  # with more models than this the dialog has a search field


@access.require_methods("GET", "HEAD")
async def choice(request: HttpRequest) -> HttpResponseBase:
    """Return the dialog's content, fetched when it is first opened. `?was=` names a retired model."""
    return await run_in_db(_choice, await get_engine(), request)


def _choice(engine: Engine, request: HttpRequest) -> HttpResponse:
    offered = catalog_for_user(engine.catalogue, access.get_user(request))
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
    """Return the third party that receives the prompt, "" for Workers AI and local models."""
    if model.host is Provider.GATEWAY:
        return _("AI Gateway")
    return urlsplit(settings.OPENAI_BASE_URL).hostname or "" if model.host is Provider.ENDPOINT else ""


def tokens(window: int) -> str:
    """Return a token count in short: 131072 and 128000 are both "128k", as their makers write them."""
    thousand = 1000 if window % 100 == 0 else 1024
    if window >= thousand**2:
        return f"{window / thousand**2:.3g}M"
    return f"{window / thousand:.3g}k"


def dollars(price: float | None) -> str:
    """Return the price with two decimals, three if the third is not 0; "" if it is unknown."""
    if price is None:
        return ""
    return f"${price:.3f}".removesuffix("0")
