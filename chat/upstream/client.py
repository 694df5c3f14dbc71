"""The client for all providers and the local model: one per event loop, with more connections than runs."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

import httpx

from chat.telemetry import tracing
from chat.upstream.providers import ai_gateway
from chat.upstream.providers.ai_gateway import Gateway
from chat.upstream.providers.ai_search import SEARCH_SENTENCES, search_request
from chat.upstream.providers.cloudflare_api import Cloudflare, checked_body
from chat.upstream.providers.llama_cpp import LocalModel
from chat.upstream.providers.openai_compatible import (
    ENDPOINT_SENTENCES,
    Endpoint,
    build_local_request,
    endpoint_request,
    gateway_request,
    parse_model_ids,
)
from chat.upstream.providers.workers_ai import Account, Request, build_request

from . import pictures
from .catalog import LlmModel, Provider
from .chat_request import ChatRequest
from .completion_stream import CompletionStream
from .errors import ErrorKind, UpstreamError
from .http_transport import CLIENT_HEADERS, TIMEOUT, Timeouts, Transport

if TYPE_CHECKING:
    from chat.telemetry.tracing.spans import ModelSpan

__all__ = ["Account", "Client", "Endpoint", "Gateway", "Timeouts"]

TIMEOUTS = Timeouts()
READ_INTERVAL_SECONDS = 0.04  # between two reads of a response
SENTENCES_OF_PROVIDERS = {Provider.ENDPOINT: ENDPOINT_SENTENCES, Provider.AI_SEARCH: SEARCH_SENTENCES}
API_READ_FACTOR = 1.5  # a longer interval for API clients: a read costs as much as processing three tokens


async def no_pictures(person: Hashable, keys: Collection[str]) -> Mapping[str, bytes]:
    return {}


class Client:
    """A client for all model servers. It must be created on the event loop that uses it."""

    def __init__(
        self,
        account: Account | None,
        local: LocalModel | None,
        *,
        gateway: Gateway | None = None,
        endpoint: Endpoint | None = None,
        timeouts: Timeouts = TIMEOUTS,
        read_interval: float = READ_INTERVAL_SECONDS,
        load_pictures: pictures.Load = no_pictures,
    ) -> None:
        """`gateway`: the AI Gateway for all requests to the account. `endpoint`: the operator's own server.

        `read_interval`: seconds between two reads of a response. `load_pictures` reads the bytes of
        pictures by their keys, and leaves out those that are gone.
        """
        self._local = local
        self._gateway = gateway
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._read_interval = read_interval
        self._load_pictures = load_pictures
        self._transport = Transport()
        self._http = httpx.AsyncClient(
            transport=self._transport,
            timeout=TIMEOUT,
            # A cookie set for one user must never be sent with another user's request.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers=CLIENT_HEADERS,
            follow_redirects=False,
            trust_env=False,
        )
        self.connect(account)

    def connect(self, account: Account | None) -> None:
        """Send requests to this account from now on; those that are under way stay with the former one."""
        self._account = account
        # For the rest of the account's API; None without an account.
        self.cloudflare = Cloudflare(self._http, account) if account else None

    def stream(
        self, request: ChatRequest, started: float | None = None, *, unstreamed: bool = False
    ) -> CompletionStream:
        """Return the stream of one request, which is sent when the iteration begins.

        `started`: see `Deadline`. `unstreamed`: request a JSON response, which becomes one delta.
        """
        span = None
        if tracing.tracer:
            parent = request.trace or tracing.context.get()
            operation = "text_completion" if request.raw else "chat"
            span = tracing.tracer.begin_model_request(
                operation, provider_name(request.model), request.model.id, request.max_tokens, parent
            )
        return CompletionStream(
            self._transport,
            lambda stream: self._request(request, stream, span),
            request,
            streams=not (unstreamed or request.unstreamed),
            timeouts=self._timeouts,
            read_interval=self._read_interval * (API_READ_FACTOR if request.batch_reads else 1),
            started=started,
            sentences=SENTENCES_OF_PROVIDERS.get(request.model.host, {}),
            span=span,
        )

    def is_retried_by_gateway(self, model: LlmModel) -> bool:
        """Return True if the AI Gateway in front of this model retries failed requests itself."""
        through = not model.local and model.host not in (Provider.ENDPOINT, Provider.AI_SEARCH)
        return bool(through and self._gateway and self._gateway.retries)

    async def _request(self, request: ChatRequest, stream: bool, span: "ModelSpan | None" = None) -> Request:
        """Build the request for the model's provider, with the credentials of that provider only.

        A gateway is sent the trace, because it can export spans of its own. Workers AI and other servers have
        no use for it.
        """
        built = await self._build(request, stream)
        if span and span.ids and ai_gateway.GATEWAY_ID in built.headers:
            built.headers.update(ai_gateway.trace_headers(*span.ids))
        return built

    async def _build(self, request: ChatRequest, stream: bool) -> Request:
        if any("parts" in message for message in request.messages):
            person = request.metadata.get("person")
            messages = await pictures.with_data(request.messages, self._load_pictures, person, request.model)
            request = replace(request, messages=messages)
        if request.model.local:
            assert self._local is not None
            await self._local.start()
            return build_local_request(self._local.base_url, self._local.key, request, stream=stream)
        if request.model.host is Provider.ENDPOINT:
            assert self._endpoint is not None
            return endpoint_request(self._endpoint, request, stream=stream)
        if (account := self._account) is None:  # disconnected since the model was chosen
            raise UpstreamError(ErrorKind.UNAVAILABLE, detail="no account is connected")
        if request.model.host is Provider.AI_SEARCH:
            return search_request(account, request, stream=stream)
        if request.model.host is Provider.GATEWAY:
            return gateway_request(account, self._gateway, request, stream=stream)
        return build_request(account, self._gateway, request, stream=stream)

    async def endpoint_models(self) -> set[str]:
        """Fetch the model ids that the operator's own server lists. Raises UpstreamError."""
        assert self._endpoint is not None
        url, headers = f"{self._endpoint.base_url}/models", self._endpoint.headers()
        try:
            return parse_model_ids(await checked_body(self._http, "GET", url, headers))
        except UpstreamError as error:
            error.message = ENDPOINT_SENTENCES.get(error.kind, error.message)
            raise

    async def aclose(self) -> None:
        await self._http.aclose()


def provider_name(model: LlmModel) -> str:
    """Return who serves the model, as OpenTelemetry's `gen_ai.provider.name` has it.

    Of a model behind the gateway, the part of its id that names the provider.
    """
    if model.local:
        return "llama_cpp"
    if model.host is Provider.ENDPOINT:
        return "openai_compatible"
    if model.host is Provider.GATEWAY:
        return model.id.partition("/")[0]
    if model.host is Provider.AI_SEARCH:
        return "cloudflare.ai_search"
    return "cloudflare.workers_ai"
