"""The router: admission by the rate limiter and the circuit breakers, retries, and fallback models.

All of this happens before the first token, because a reply comes from a single model. The loop is in
`routed_request.py`, and is the only one that requests a reply again.
"""

from collections.abc import Callable, Iterator, Sequence

from chat.upstream.catalog import Catalog, LlmModel, UnknownModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Client
from chat.upstream.errors import UpstreamError

from .circuit_breaker import CircuitBreaker, QuotaBreaker
from .rate_limiter import PositionCallback, RateLimiter, ignore_position
from .routed_request import RetryPolicy, RoutedRequest

RETRY_POLICY = RetryPolicy()

Observer = Callable[[LlmModel, UpstreamError | None], None]
"""Told of each attempt that has ended, with its error, or None once its first token is there."""


class Router:
    """The router of all requests of a process. `fallbacks`: ids of models, tried in this order."""

    def __init__(
        self,
        client: Client,
        catalog: Callable[[], Catalog],
        limiter: RateLimiter,
        fallbacks: Sequence[str] = (),
        *,
        breaker: Callable[[], CircuitBreaker] = CircuitBreaker,
        quota_breaker: QuotaBreaker | None = None,
        retry_policy: RetryPolicy = RETRY_POLICY,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.limiter = limiter
        self.quota_breaker = quota_breaker or QuotaBreaker()
        self.client = client
        self.retry_policy = retry_policy
        self._observers = observers
        self._catalog = catalog
        self._fallbacks = fallbacks
        self._make_breaker = breaker
        self._breakers: dict[str, CircuitBreaker] = {}

    def stream(
        self,
        request: ChatRequest,
        on_position: PositionCallback = ignore_position,
        *,
        allow_fallback: bool = True,
        wait: bool = True,
        background: bool = False,
    ) -> RoutedRequest:
        """Open a stream, up to its first token: `async with router.stream(request) as stream: async for …`

        `on_position` gets the position in the wait queue, and 0 when the request is sent. `allow_fallback`
        False: no other model may answer, as when a reply is continued. `wait` False: at the rate limit,
        UpstreamError (throttled) with `retry_after` is raised at once, as API clients expect. `background`:
        nobody waits for this reply, so it is requested once, by this model, and only if that holds up no
        other request.

        Entering it raises UpstreamError, that of the requested model, if no model could answer.
        """
        fallbacks = self.fallbacks_for(request.model) if allow_fallback and not background else []
        return RoutedRequest(self, request, fallbacks, wait and not background, background, on_position)

    def tell(self, model: LlmModel, error: UpstreamError | None) -> None:
        """Tell the observers how an attempt has ended."""
        for observer in self._observers:
            observer(model, error)

    def breaker(self, model: LlmModel) -> CircuitBreaker:
        if model.id not in self._breakers:
            self._breakers[model.id] = self._make_breaker()
        return self._breakers[model.id]

    def open_breakers(self) -> dict[str, bool]:
        """Return whether the breaker is open, by model that was asked since the start."""
        return {model: breaker.is_open for model, breaker in self._breakers.items()}

    def fallbacks_for(self, model: LlmModel) -> list[LlmModel]:
        """Return the fallback models; none for the local model, whose prompts must not leave this machine."""
        return [] if model.local else [other for other in self._available() if other.id != model.id]

    def _available(self) -> Iterator[LlmModel]:
        catalog = self._catalog()
        for name in self._fallbacks:
            try:
                model = catalog.get(name)
            except UnknownModel:
                continue  # retired since the process started
            if not catalog.is_restricted(model):  # the user may not be allowed to use a restricted model
                yield model
