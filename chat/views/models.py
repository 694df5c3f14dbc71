"""The models to choose from, each with what a person wants to know before choosing."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from chat.engine.database import in_database
from chat.engine.engine import Engine, engine
from chat.upstream.catalogue import Model

from . import gate

FILTERED = 8  # more than so many are easier found by typing


@gate.takes("GET", "HEAD")
async def choice(request: HttpRequest) -> HttpResponseBase:
    """What the page's dialog shows; fetched when it is opened first."""
    return await in_database(_choice, await engine(), request)


def _choice(here: Engine, request: HttpRequest) -> HttpResponse:
    gate.signed_in(request)
    models = [facts(model) for model in here.catalogue]
    return render(request, "chat/_models.html", {"models": models, "filtered": len(models) > FILTERED})


def facts(model: Model) -> dict[str, Any]:
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
    }


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
