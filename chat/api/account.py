"""Workers AI's endpoints about an account: models, a model's schema, finetunes, and the key that is sent.

https://developers.cloudflare.com/api/resources/ai/subresources/models/
"""

import uuid
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.engine.engine import get_engine
from chat.exceptions import BadRequest
from chat.upstream.catalog import LlmModel

from .auth import authenticate
from .errors import workers_ai_error
from .models import get_model, list_models
from .openapi import run_schemas
from .refusals import MAX_QUOTED_CHARS, NO_CHOICE, Object, invalid
from .responses import api_view, json_response
from .workers_ai import envelope

MAX_PAGE_MODELS = 1_000
CLOUDFLARE_SOURCE = "1"  # Cloudflare's number for its own models
SWITCH_OF_VALUE = {"true": True, "1": True, "false": False, "0": False}
# As Cloudflare names it.
TEXT_GENERATION_TASK = {"id": "c329a1f9-323d-4e91-b2aa-582dd4188d34", "name": "Text Generation"}
UNITS = {
    "per M input tokens": "price_in",
    "per M output tokens": "price_out",
    "per M cached input tokens": "price_cached",
}
TOKEN_VALID_CODE = 10000  # the code that Cloudflare sends with this message


@api_view(workers_ai_error, "GET", "HEAD")
async def search(request: HttpRequest, account: str) -> HttpResponseBase:
    """Return one page of the models that match the filters."""
    number, size = _number(request, "page", 1), _number(request, "per_page", 50)
    if request.GET.get("format"):
        raise BadRequest(_("“%(name)s” is not supported.") % {"name": "format"})
    models = await run_in_db(list_models, await get_engine(), request)
    left = [model for model in models if _fits(request, model)]
    shown = left[(number - 1) * size :][:size]
    counts = {
        "page": number,
        "per_page": size,
        "count": len(shown),
        "total_count": len(left),
        "total_pages": -(-len(left) // size),
    }
    return json_response(envelope([_record(model) for model in shown], result_info=counts))


@api_view(workers_ai_error, "GET", "HEAD")
async def schema(request: HttpRequest, account: str) -> HttpResponseBase:
    """Return the JSON schemas of a request to `model` and of its result."""
    await run_in_db(get_model, await get_engine(), request, request.GET.get("model"))
    taken, given = run_schemas()
    return json_response(envelope({"input": taken, "output": given}))


@api_view(workers_ai_error, "GET", "HEAD")
async def finetunes(request: HttpRequest, account: str) -> HttpResponseBase:
    """Return the account's finetunes that this site offers; `lora` accepts their ids and names."""
    models = await run_in_db(list_models, await get_engine(), request)
    adapters = [
        {"id": model.finetune, "model": model.base, "name": model.adapter_name or model.name}
        for model in models
        if model.finetune
    ]
    return json_response(envelope(adapters))


def _fits(request: HttpRequest, model: LlmModel) -> bool:
    """Return True if the model matches the filters. All listed models have the same task and source."""
    wanted = {name: request.GET.get(name, "").lower() for name in ("search", "task", "author", "source")}
    return (
        wanted["search"] in f"{model.id} {model.name}".lower()
        and wanted["task"] in ("", TEXT_GENERATION_TASK["name"].lower(), TEXT_GENERATION_TASK["id"])
        and wanted["author"] in ("", author(model).lower())
        and wanted["source"] in ("", CLOUDFLARE_SOURCE)
        and not (model.beta and _switch(request, "hide_experimental"))
    )


def author(model: LlmModel) -> str:
    """Return the model's maker, as named in its id; "local" for a local model."""
    return "local" if model.local else model.id.removeprefix("@cf/").removeprefix("@hf/").partition("/")[0]


def _switch(request: HttpRequest, name: str) -> bool:
    value = request.GET.get(name, "false").lower()
    if value not in SWITCH_OF_VALUE:
        raise invalid(NO_CHOICE, name, value=value[:MAX_QUOTED_CHARS])
    return SWITCH_OF_VALUE[value]


def _number(request: HttpRequest, name: str, usual: int) -> int:
    value = request.GET.get(name, str(usual))
    if not (value.isascii() and value.isdigit() and len(value) < 6 and int(value)):
        raise BadRequest(_("“%(name)s” must be a number of at least 1.") % {"name": name})
    return min(int(value), MAX_PAGE_MODELS)


def _record(model: LlmModel) -> Object:
    """Return a model as Cloudflare lists it: its id is in `name`, and nearly every value is a string."""
    known: dict[str, Any] = {
        "context_window": str(model.window),
        "function_calling": model.tools,
        "reasoning": model.reasoning or model.inline_reasoning,
        "vision": model.vision,
        "lora": model.lora,
        "beta": model.beta,
        "require_workers_paid": model.paid,
        "planned_deprecation_date": str(model.retires or ""),
        "price": _prices(model),
    }
    properties = [
        {"property_id": name, "value": "true" if value is True else value}
        for name, value in known.items()
        if value
    ]
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, model.id)),
        "source": int(CLOUDFLARE_SOURCE),
        "name": model.id,
        "description": model.name,
        "task": TEXT_GENERATION_TASK,
        "tags": [],
        "properties": properties,
    }


def _prices(model: LlmModel) -> list[Object]:
    prices = {unit: getattr(model, name) for unit, name in UNITS.items()}
    return [
        {"unit": unit, "price": price, "currency": "USD"}
        for unit, price in prices.items()
        if price is not None
    ]


@api_view(workers_ai_error, "GET", "HEAD")
async def verify(request: HttpRequest, **address: Any) -> HttpResponseBase:
    """Return the status of the request's key; 401 if it is not valid."""
    await get_engine()
    key = await run_in_db(authenticate, request)
    result: dict[str, Any] = {"id": key.pk.hex, "status": "active"}
    if key.expires:
        result["expires_on"] = key.expires.strftime("%Y-%m-%dT%H:%M:%SZ")
    valid = {"code": TOKEN_VALID_CODE, "message": _("This API key is valid."), "type": None}
    return json_response(envelope(result) | {"messages": [valid]})
