"""AI Gateway options of a call: Cloudflare's `cf-aig-*` headers, or `gateway` in the body.

A field of the body overrides its header.
https://developers.cloudflare.com/ai-gateway/usage/rest-api/
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.models import ApiKey
from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.providers import ai_gateway
from chat.wire import strict_json

from .errors import PermissionDenied
from .refusals import Object, invalid, unsupported

PREFIXES = ("cf-aig-", "cf-skip-cache", "cf-cache-ttl")  # the last two are the former names
IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,64}")
KEY = re.compile(r"[\x21-\x7e]{1,200}")
NAMES = re.compile(r"[A-Za-z0-9@/*._:-]{1,100}(?:, ?[A-Za-z0-9@/*._:-]{1,100}){0,49}")
SWITCH_VALUES = {"true", "false"}
BACKOFFS = {"constant", "linear", "exponential"}
LISTS = ("allowedModels", "allowedProviders")  # options that are lists, or a header's text
COSTS = {"per_token_in", "per_token_out", "per_cache_read_token", "per_cache_write_token", "total_cost"}
MAX_LABELS = 3  # a gateway keeps five metadata entries; the site uses two itself (person, site)
MAX_LABEL_CHARS = 200
NOT_ACCEPTED = gettext_noop("“%(name)s” has a value that AI Gateway doesn’t accept.")
NO_GATEWAY = gettext_noop("“%(name)s”: this model doesn’t use an AI Gateway.")
NEEDS_GATEWAY = gettext_noop("“%(name)s” is required: this site has no AI Gateway of its own.")


def _number(least: int, most: int, *also: int) -> Callable[[str], bool]:
    def fits(value: str) -> bool:
        if not (value.isascii() and value.isdigit() and len(value) < 9):
            return False
        return least <= int(value) <= most or int(value) in also

    return fits


def _are_labels(value: str) -> bool:
    try:
        labels = strict_json.loads(value.encode())
    except (strict_json.InvalidJSON, UnicodeEncodeError):
        return False
    return (
        isinstance(labels, dict)
        and len(labels) <= MAX_LABELS
        and not any(name.startswith("cf.") for name in labels)
        and all(isinstance(each, str | int | float) for each in labels.values())
        and all(len(str(each)) <= MAX_LABEL_CHARS for each in (*labels, *labels.values()))
    )


def _is_cost(value: str) -> bool:
    """Return True for an object of prices in dollars, such as `{"per_token_in": 0.000001}`."""
    try:
        cost = strict_json.loads(value.encode())
    except (strict_json.InvalidJSON, UnicodeEncodeError):
        return False
    return (
        value.isprintable()  # it is sent as it stands
        and isinstance(cost, dict)
        and 0 < len(cost) <= len(COSTS)
        and all(
            name in COSTS and isinstance(price, int | float) and not isinstance(price, bool) and price >= 0
            for name, price in cost.items()
        )
    )


# header: (its name in the body's `gateway` object, check of its value)
GATEWAY_OPTIONS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    ai_gateway.GATEWAY_ID: ("id", IDENTIFIER.fullmatch),
    ai_gateway.SKIP_CACHE: ("skipCache", SWITCH_VALUES.__contains__),
    ai_gateway.CACHE_TTL: ("cacheTtl", _number(60, 2_592_000, 0)),
    ai_gateway.CACHE_KEY: ("cacheKey", KEY.fullmatch),
    ai_gateway.METADATA: ("metadata", _are_labels),
    "cf-aig-collect-log": ("collectLog", SWITCH_VALUES.__contains__),
    "cf-aig-collect-log-payload": ("collectLogPayload", SWITCH_VALUES.__contains__),
    "cf-aig-event-id": ("eventId", IDENTIFIER.fullmatch),
    "cf-aig-request-timeout": ("requestTimeoutMs", _number(100, 120_000)),
    "cf-aig-max-attempts": ("maxAttempts", _number(1, 5)),
    "cf-aig-retry-delay": ("retryDelayMs", _number(100, 5_000)),
    "cf-aig-backoff": ("backoff", BACKOFFS.__contains__),
    "cf-aig-byok-alias": ("byokAlias", IDENTIFIER.fullmatch),
    "cf-aig-no-wholesale": ("noWholesale", SWITCH_VALUES.__contains__),
    "cf-aig-zdr": ("zdr", SWITCH_VALUES.__contains__),
    "cf-aig-custom-cost": ("customCost", _is_cost),
    # Of the Auto Router: https://developers.cloudflare.com/ai-gateway/features/auto-router/
    ai_gateway.SESSION_ID: ("sessionId", KEY.fullmatch),
    "cf-aig-turn-id": ("turnId", KEY.fullmatch),
    "cf-aig-no-session-affinity": ("noSessionAffinity", SWITCH_VALUES.__contains__),
    "cf-aig-allowed-models": ("allowedModels", NAMES.fullmatch),
    "cf-aig-allowed-providers": ("allowedProviders", NAMES.fullmatch),
}
HEADER_OF_OPTION = {name: header for header, (name, _fits) in GATEWAY_OPTIONS.items()}


def gateway_options(request: HttpRequest, sent: Object, key: ApiKey, model: LlmModel) -> dict[str, str]:
    """Return the call's options as headers for the gateway; empty if it has none.

    Raises InvalidField, and PermissionDenied when the key may not set options.
    """
    headers = {name.lower(): value for name, value in request.headers.items()}
    named = {name: (name, value) for name, value in headers.items() if name.startswith(PREFIXES)}
    named |= _in_body(sent)
    if not named:
        return {}
    if not key.may_set_gateway:
        words = _("“%(name)s”: this API key can’t set AI Gateway options. An administrator can allow it.")
        raise PermissionDenied(words % {"name": next(iter(named.values()))[0]})
    options = {header: _checked(header, *option) for header, option in named.items()}
    _refuse_without_gateway(options, model)
    return options


def _in_body(sent: Object) -> dict[str, tuple[str, str]]:
    """Return {header: (name in the body, value as the header's text)}."""
    options: Object = dict(sent.get("gateway") or {})
    retries = options.pop("retries", None)
    options |= retries if isinstance(retries, dict) else {"retries": retries}
    for name in LISTS:
        if isinstance(names := options.get(name), list) and all(isinstance(each, str) for each in names):
            options[name] = ",".join(names)
    return {
        HEADER_OF_OPTION.get(name, f"gateway.{name}"): (f"gateway.{name}", _written(value))
        for name, value in options.items()
        if value is not None
    }


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _checked(header: str, name: str, value: str) -> str:
    if header not in GATEWAY_OPTIONS:
        raise unsupported(name)
    if not GATEWAY_OPTIONS[header][1](value):
        raise invalid(NOT_ACCEPTED, name)
    return value


def _refuse_without_gateway(options: Mapping[str, str], model: LlmModel) -> None:
    if model.local or model.host in (Provider.ENDPOINT, Provider.AI_SEARCH):
        raise invalid(NO_GATEWAY, "gateway", "unsupported_parameter")
    if not (ai_gateway.GATEWAY_ID in options or settings.AI_GATEWAY_ID or model.host is Provider.GATEWAY):
        raise invalid(NEEDS_GATEWAY, "gateway.id", "missing_required_parameter")
