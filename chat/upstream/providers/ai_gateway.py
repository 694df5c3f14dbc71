"""AI Gateway in front of the account: what we ask of it, in headers of the normal call.

https://developers.cloudflare.com/ai-gateway/usage/rest-api/
"""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from chat.upstream.chat_request import ChatRequest
from chat.wire import sse

ID, SKIP_CACHE, CACHE_TTL = "cf-aig-gateway-id", "cf-aig-skip-cache", "cf-aig-cache-ttl"
CACHE_KEY, METADATA = "cf-aig-cache-key", "cf-aig-metadata"
LABELS = 5  # that the gateway keeps; it drops the rest
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Gateway:
    """What is None or empty is left to the gateway's own settings.

    `cache_ttl` in seconds, 0 for never from its cache, where `cache_per_person` keeps people apart;
    `request_timeout`, up to the first byte, and `retry_delay` in milliseconds; `cost` in dollars a million
    tokens read and written.
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
        """It asks again by itself, so that nobody else needs to."""
        return (self.max_attempts or 1) > 1


def headers(gateway: Gateway, ask: ChatRequest, body: dict[str, Any]) -> dict[str, str]:
    """What goes with a question through this gateway.

    Nothing that somebody typed is among it but the options of a call whose key may set the gateway:
    those were validated where they were read.
    """
    sent = dict(_fixed(gateway))
    if ask.skip_cache:
        sent[SKIP_CACHE] = "true"
    if gateway.metadata and ask.metadata:
        # Escaped to ASCII, as a header has to be.
        sent[METADATA] = json.dumps(dict(islice(ask.metadata.items(), LABELS)))
    if gateway.cache_per_person and gateway.cache_ttl and not ask.skip_cache:
        sent[CACHE_KEY] = _cache_key(ask, body)
    return _with_options_of_call(sent, ask) if ask.gateway else sent


def _with_options_of_call(sent: dict[str, str], ask: ChatRequest) -> dict[str, str]:
    """What the call itself sets wins, but for whose call it is; a cache key is its person's own."""
    options = dict(ask.gateway)
    if CACHE_TTL in options or options.get(SKIP_CACHE) == "false":
        sent.pop(SKIP_CACHE, None)
    if METADATA in options:
        options[METADATA] = json.dumps(json.loads(options[METADATA]) | json.loads(sent.get(METADATA, "{}")))
    if CACHE_KEY in options:
        named = sse.dumps([ask.metadata.get("person", ""), options[CACHE_KEY]])
        options[CACHE_KEY] = hashlib.sha256(named.encode()).hexdigest()
    return sent | options


@lru_cache(8)
def _fixed(gateway: Gateway) -> dict[str, str]:
    """The headers that are the same with every question."""
    sent = {
        ID: gateway.id,
        "cf-aig-collect-log-payload": "true" if gateway.log_payloads else "false",
    }
    if gateway.cache_ttl == 0:
        sent[SKIP_CACHE] = "true"
    elif gateway.cache_ttl:
        sent[CACHE_TTL] = str(gateway.cache_ttl)
    if gateway.request_timeout:
        sent["cf-aig-request-timeout"] = str(gateway.request_timeout)
    if gateway.max_attempts:
        sent["cf-aig-max-attempts"] = str(gateway.max_attempts)
    if gateway.retry_delay:
        sent["cf-aig-retry-delay"] = str(gateway.retry_delay)
    if gateway.backoff:
        sent["cf-aig-backoff"] = gateway.backoff
    if gateway.cost:
        read, written = (dollars / MILLION for dollars in gateway.cost)
        sent["cf-aig-custom-cost"] = json.dumps({"per_token_in": read, "per_token_out": written})
    return sent


def _cache_key(ask: ChatRequest, body: dict[str, Any]) -> str:
    """The same question, of the same model, by the same person: a digest, from which none can be read back.

    Who is nobody we know shares with all others of that kind.
    """
    asked = sse.dumps([ask.metadata.get("person", ""), ask.model.id, body])
    return hashlib.sha256(asked.encode("utf-8", "backslashreplace")).hexdigest()
