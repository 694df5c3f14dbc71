"""The client of all who answer, here and elsewhere: one for each event loop, with connections to spare."""

from collections.abc import Iterable
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from chat.upstream.providers.ai_gateway import Gateway
from chat.upstream.providers.cloudflare_api import Cloudflare, answered
from chat.upstream.providers.gateway_routes import to_route
from chat.upstream.providers.llama_cpp import LocalModel
from chat.upstream.providers.openai_compatible import SENTENCES, Endpoint, served, to_endpoint, to_provider
from chat.upstream.providers.workers_ai import Account, Request, to_local, to_workers_ai

from .catalogue import Model
from .chat_request import Ask
from .completion_stream import CompletionStream
from .errors import UpstreamError
from .gateway_log import Passage
from .http_transport import HEADERS, TIMEOUT, Transport
from .provider import Host
from .providers import model_search
from .timeouts import Deadlines

__all__ = ["Account", "Client", "Deadlines", "Endpoint", "Gateway"]

DEADLINES = Deadlines()
BITE = 0.04  # seconds between two reads of a reply
COARSER = 1.5  # times that for a program: each read costs what three tokens cost beside it


class Client:
    """To be made on the event loop that it works on."""

    def __init__(
        self,
        account: Account | None,
        local: LocalModel | None,
        *,
        gateway: Gateway | None = None,
        endpoint: Endpoint | None = None,
        deadlines: Deadlines = DEADLINES,
        bite: float = BITE,
    ) -> None:
        """`gateway`: all questions to the account go through it. `endpoint` serves models of its own."""
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
            # One person's cookie must never go out with another's question.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers=HEADERS,
            follow_redirects=False,
            trust_env=False,
        )
        self._cloudflare = Cloudflare(self._http, account) if account else None

    def stream(self, ask: Ask, started: float | None = None, *, whole: bool = False) -> CompletionStream:
        """Request a reply, once; nothing is sent before it is iterated. `started`: see `CompletionStream`.

        `whole`: ask for the whole answer at once, without `stream`.
        """
        return CompletionStream(
            self._transport,
            lambda stream: self._request(ask, stream),
            model=ask.model,
            streams=not (whole or ask.unstreamed),
            max_tokens=ask.max_tokens,
            deadlines=self._deadlines,
            bite=self._bite * (COARSER if ask.coarse else 1),
            started=started,
            sentences=SENTENCES if ask.model.host is Host.ENDPOINT else {},
        )

    def is_retried_by_gateway(self, model: Model) -> bool:
        """Whether the AI Gateway in front of this model retries by itself."""
        through = not model.local and model.host is not Host.ENDPOINT
        return bool(through and self._gateway and self._gateway.tries_again)

    async def models(self) -> list[Model]:
        """Cloudflare's text models, as its list has them now. Raises UpstreamError."""
        assert self._account is not None
        return await model_search.models(self._http, self._account)

    async def finetunes(self, bases: Iterable[Model]) -> list[Model]:
        """The account's own finetunes of these models. Raises UpstreamError."""
        assert self._account is not None
        return await model_search.finetunes(self._http, self._account, bases)

    async def _request(self, ask: Ask, stream: bool) -> Request:
        """Each key goes to the one server that it is for."""
        if ask.model.local:
            assert self._local is not None
            await self._local.start()
            return to_local(self._local.base_url, self._local.key, ask, stream=stream)
        if ask.model.host is Host.ENDPOINT:
            assert self._endpoint is not None
            return to_endpoint(self._endpoint, ask, stream=stream)
        assert self._account is not None
        if ask.model.is_route:
            return to_route(self._account, self._gateway, ask, stream=stream)
        if ask.model.host is Host.GATEWAY:
            return to_provider(self._account, self._gateway, ask, stream=stream)
        return to_workers_ai(self._account, self._gateway, ask, stream=stream)

    @property
    def cloudflare(self) -> Cloudflare | None:
        """The rest of the account's API, where there is an account."""
        return self._cloudflare

    async def endpoint_models(self) -> set[str]:
        """What the operator's own server says it serves. Raises UpstreamError."""
        assert self._endpoint is not None
        url, headers = f"{self._endpoint.base_url}/models", self._endpoint.headers()
        try:
            return served(await answered(self._http.get(url, headers=headers)))
        except UpstreamError as error:
            error.message = SENTENCES.get(error.kind, error.message)
            raise

    async def verify(self) -> bool | None:
        """Whether Cloudflare accepts the token, a person's or an account's; None where it cannot be asked."""
        return await self._cloudflare.verify() if self._cloudflare else None

    async def rate(self, passage: Passage, up: bool | None) -> None:
        """Note in the log of a gateway what a person thought of a reply. Raises UpstreamError."""
        if self._cloudflare:
            await self._cloudflare.rate(passage, up)

    async def aclose(self) -> None:
        await self._http.aclose()
