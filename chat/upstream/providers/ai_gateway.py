"""The settings of an AI Gateway in front of the account, sent as headers of the ordinary request.

https://developers.cloudflare.com/ai-gateway/usage/rest-api/
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Self

from chat.limits import MAX_MODEL_CHARS
from chat.upstream.catalog import Provider
from chat.upstream.chat_request import ChatRequest
from chat.wire import sse

GATEWAY_ID, SKIP_CACHE, CACHE_TTL = "cf-aig-gateway-id", "cf-aig-skip-cache", "cf-aig-cache-ttl"
CACHE_KEY, METADATA = "cf-aig-cache-key", "cf-aig-metadata"
SESSION_ID = "cf-aig-session-id"
MAX_METADATA_ENTRIES = 5  # metadata entries that the gateway keeps; it drops the rest
MILLION = 1_000_000
VALID_LOG_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # a ULID or a UUID; opaque, but it becomes part of URLs
VALID_MODEL = re.compile(r"[@A-Za-z0-9][A-Za-z0-9@._:/+-]{0,149}")
VALID_STEP = re.compile(r"[0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class Gateway:
    """The settings of one gateway; None or "" leaves a setting to the gateway's own configuration.

    `cache_ttl` in seconds, 0 to bypass the cache. `cache_per_person`: users do not share cache entries.
    `request_timeout` (up to the first byte) and `retry_delay` in milliseconds. `cost`: dollars per million
    input and output tokens.
    """

    id: str
    cache_ttl: int | None = None
    cache_per_person: bool = False
    request_timeout: int | None = None
    max_attempts: int | None = None
    retry_delay: int | None = None
    backoff: str = ""
    metadata: bool = True
    log_payloads: bool = False
    cost: tuple[float, float] | None = None

    @property
    def retries(self) -> bool:
        """True if the gateway retries failed requests itself, so that the router need not."""
        return (self.max_attempts or 1) > 1


def headers(gateway: Gateway, request: ChatRequest, body: dict[str, Any]) -> dict[str, str]:
    """Return the gateway's headers for one request.

    The only values that a client chose are the gateway options of an API request whose key may set them. They
    were validated when the request was parsed. The session, a conversation's pseudonym, keeps the Auto Router
    with one model for a turn, and so with its prompt cache.
    """
    sent = dict(_fixed(gateway))
    if request.model.host is Provider.GATEWAY and "conversation" in request.metadata:
        sent[SESSION_ID] = request.session_affinity
    if request.skip_cache:
        sent[SKIP_CACHE] = "true"
    if gateway.metadata and request.metadata:
        # `json.dumps` escapes to ASCII, as a header requires.
        sent[METADATA] = json.dumps(dict(islice(request.metadata.items(), MAX_METADATA_ENTRIES)))
    if gateway.cache_per_person and gateway.cache_ttl and not request.skip_cache:
        sent[CACHE_KEY] = _cache_key(request, body)
    return _with_options_of_call(sent, request) if request.gateway else sent


def trace_headers(trace_id: str, span_id: str) -> dict[str, str]:
    """Return the headers with which the gateway's own spans join a trace.

    https://developers.cloudflare.com/ai-gateway/observability/otel-integration/
    """
    return {"cf-aig-otel-trace-id": trace_id, "cf-aig-otel-parent-span-id": span_id}


def _with_options_of_call(sent: dict[str, str], request: ChatRequest) -> dict[str, str]:
    """Return the headers with the API request's own options, which take precedence.

    In the metadata the site's entries win, because they name the user. A cache key is hashed with the user's
    pseudonym, so that users do not share entries.
    """
    options = dict(request.gateway)
    if CACHE_TTL in options or options.get(SKIP_CACHE) == "false":
        sent.pop(SKIP_CACHE, None)
    if METADATA in options:
        options[METADATA] = json.dumps(json.loads(options[METADATA]) | json.loads(sent.get(METADATA, "{}")))
    if CACHE_KEY in options:
        named = sse.dumps([request.metadata.get("person", ""), options[CACHE_KEY]])
        options[CACHE_KEY] = hashlib.sha256(named.encode()).hexdigest()
    return sent | options


@lru_cache(8)
def _fixed(gateway: Gateway) -> dict[str, str]:
    """Return the headers that are the same for every request."""
    sent = {
        GATEWAY_ID: gateway.id,
        "cf-aig-collect-log-payload": "true" if gateway.log_payloads else "false",
    }
    if gateway.cache_ttl == 0:
        sent[SKIP_CACHE] = "true"
    elif gateway.cache_ttl:
        sent[CACHE_TTL] = str(gateway.cache_ttl)
    own = {
        "cf-aig-request-timeout": gateway.request_timeout,
        "cf-aig-max-attempts": gateway.max_attempts,
        "cf-aig-retry-delay": gateway.retry_delay,
        "cf-aig-backoff": gateway.backoff,
    }
    sent |= {name: str(value) for name, value in own.items() if value}
    if gateway.cost:
        input_price, output_price = (dollars / MILLION for dollars in gateway.cost)
        sent["cf-aig-custom-cost"] = json.dumps({"per_token_in": input_price, "per_token_out": output_price})
    return sent


def _cache_key(request: ChatRequest, body: dict[str, Any]) -> str:
    """Return a digest of user, model and request body, so that the key reveals none of them.

    Requests without a user share their cache entries.
    """
    identity = sse.dumps([request.metadata.get("person", ""), request.model.id, body])
    return hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()


@dataclass(frozen=True, slots=True)
class GatewayLogRef:
    """A reference to a reply's log entry (`gateway`, `log_id`), with the other facts in the headers.

    `cached`: the reply came from the gateway's cache; `missed`: the cache was searched without success.
    `step`: index of the model that answered among those of the gateway, 0 for the first; None if the headers
    name none. `served_by`: the model that a route or a fallback of the gateway chose, with its provider:
    `openai/gpt-5`.
    """

    gateway: str = ""
    log_id: str = ""
    cached: bool = False
    step: int | None = None
    missed: bool = False
    served_by: str = ""

    @classmethod
    def from_headers(cls, request_headers: Mapping[str, str], response_headers: Mapping[str, str]) -> Self:
        """Build the reference from the headers of the request and the response; ignore malformed values."""
        gateway = request_headers.get("cf-aig-gateway-id", "")
        if not gateway:
            return cls()
        log_id, step = response_headers.get("cf-aig-log-id", ""), response_headers.get("cf-aig-step", "")
        status = response_headers.get("cf-aig-cache-status", "").upper()
        return cls(
            gateway,
            log_id if VALID_LOG_ID.fullmatch(log_id) else "",
            status == "HIT",
            int(step) if VALID_STEP.fullmatch(step) else None,
            status == "MISS",
            _served_by(response_headers),
        )

    @property
    def cache_status(self) -> str:
        """The gateway's header value, "HIT" or "MISS"; "" if it did not report a cache status."""
        return "HIT" if self.cached else "MISS" if self.missed else ""


def _served_by(response_headers: Mapping[str, str]) -> str:
    """Return `provider/model`; the Auto Router reports its choice in a separate header.

    "" if no header names a model.
    """
    model = response_headers.get("cf-aig-routed-model", "") or response_headers.get("cf-aig-model", "")
    provider = response_headers.get("cf-aig-provider", "")
    if not VALID_MODEL.fullmatch(model):
        return ""
    # Workers AI's ids begin with "@" and need no provider; ids that a route reports already contain it.
    known = model.startswith(("@", f"{provider}/")) or not VALID_MODEL.fullmatch(provider)
    return model if known else f"{provider}/{model}"[:MAX_MODEL_CHARS]


NO_GATEWAY = GatewayLogRef()
