"""The client for all providers and the local model: one per event loop, with more connections than runs."""

from collections.abc import Iterable
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from chat.upstream.providers.ai_gateway import Gateway
from chat.upstream.providers.cloudflare_api import Cloudflare, checked_response
from chat.upstream.providers.gateway_routes import route_request
from chat.upstream.providers.llama_cpp import LocalModel
from chat.upstream.providers.openai_compatible import (
    SENTENCES,
    Endpoint,
    endpoint_request,
    gateway_request,
    parse_model_ids,
)
from chat.upstream.providers.workers_ai import Account, Request, build_local_request, build_request

from .catalogue import LlmModel
from .chat_request import ChatRequest
from .completion_stream import CompletionStream
from .errors import UpstreamError
from .gateway_log import GatewayLogRef
from .http_transport import HEADERS, TIMEOUT, Transport
from .provider import Provider
from .providers import model_search
from .timeouts import Timeouts

__all__ = ["Account", "Client", "Endpoint", "Gateway", "Timeouts"]

DEADLINES = Timeouts()
READ_INTERVAL_SECONDS = 0.04  # between two reads of a response
API_READ_FACTOR = 1.5  # a longer interval for API clients: a read costs as much as processing three tokens


class Client:
    """A client for all model servers. It must be created on the event loop that uses it."""

    def __init__(
        self,
        account: Account | None,
        local: LocalModel | None,
        *,
        gateway: Gateway | None = None,
        endpoint: Endpoint | None = None,
        deadlines: Timeouts = DEADLINES,
        bite: float = READ_INTERVAL_SECONDS,
    ) -> None:
        """`gateway`: the AI Gateway for all requests to the account. `endpoint`: the operator's own server.

        `bite`: seconds between two reads of a response.
        """
        self._account = account
        self._local = local
        self._gateway = gateway
        self._endpoint = endpoint
        self._deadlines = deadlines
        self._bite = bite
        self._transport = Transport()
        self._http = httpx.AsyncClient(
            transport=self._transport,
            timeout=TIMEOUT,
            # A cookie set for one user must never be sent with another user's request.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers=HEADERS,
            follow_redirects=False,
            trust_env=False,
        )
        self._cloudflare = Cloudflare(self._http, account) if account else None

    def stream(
        self, ask: ChatRequest, started: float | None = None, *, whole: bool = False
    ) -> CompletionStream:
        """Return the stream of one request, which is sent when the iteration begins.

        `started`: see `CompletionStream`. `whole`: request a JSON response instead of a stream.
        """
        return CompletionStream(
            self._transport,
            lambda stream: self._request(ask, stream),
            model=ask.model,
            streams=not (whole or ask.unstreamed),
            max_tokens=ask.max_tokens,
            deadlines=self._deadlines,
            bite=self._bite * (API_READ_FACTOR if ask.batch_reads else 1),
            started=started,
            sentences=SENTENCES if ask.model.host is Provider.ENDPOINT else {},
        )

    def is_retried_by_gateway(self, model: LlmModel) -> bool:
        """Return True if the AI Gateway in front of this model retries failed requests itself."""
        through = not model.local and model.host is not Provider.ENDPOINT
        return bool(through and self._gateway and self._gateway.retries)

    async def models(self) -> list[LlmModel]:
        """Fetch Cloudflare's current list of text models. Raises UpstreamError."""
        assert self._account is not None
        return await model_search.models(self._http, self._account)

    async def finetunes(self, bases: Iterable[LlmModel]) -> list[LlmModel]:
        """Fetch the account's own finetunes of these models. Raises UpstreamError."""
        assert self._account is not None
        return await model_search.finetunes(self._http, self._account, bases)

    async def _request(self, ask: ChatRequest, stream: bool) -> Request:
        """Build the request for the model's provider, with the credentials of that provider only."""
        if ask.model.local:
            assert self._local is not None
            await self._local.start()
            return build_local_request(self._local.base_url, self._local.key, ask, stream=stream)
        if ask.model.host is Provider.ENDPOINT:
            assert self._endpoint is not None
            return endpoint_request(self._endpoint, ask, stream=stream)
        assert self._account is not None
        if ask.model.is_route:
            return route_request(self._account, self._gateway, ask, stream=stream)
        if ask.model.host is Provider.GATEWAY:
            return gateway_request(self._account, self._gateway, ask, stream=stream)
        return build_request(self._account, self._gateway, ask, stream=stream)

    @property
    def cloudflare(self) -> Cloudflare | None:
        """The client for the rest of the account's API; None without an account."""
        return self._cloudflare

    async def endpoint_models(self) -> set[str]:
        """Fetch the model ids that the operator's own server lists. Raises UpstreamError."""
        assert self._endpoint is not None
        url, headers = f"{self._endpoint.base_url}/models", self._endpoint.headers()
        try:
            return parse_model_ids(await checked_response(self._http.get(url, headers=headers)))
        except UpstreamError as error:
            error.message = SENTENCES.get(error.kind, error.message)
            raise

    async def verify(self) -> bool | None:
        """Return True if Cloudflare accepts the API token, of a user or of an account.

        None if Cloudflare cannot be reached, or there is no account.
        """
        return await self._cloudflare.verify() if self._cloudflare else None

    async def send_feedback(self, passage: GatewayLogRef, up: bool | None) -> None:
        """Store a user's rating of a reply in the AI Gateway's log, or remove it if `up` is None.

        Raises UpstreamError.
        """
        if self._cloudflare:
            await self._cloudflare.send_feedback(passage, up)

    async def aclose(self) -> None:
        await self._http.aclose()
