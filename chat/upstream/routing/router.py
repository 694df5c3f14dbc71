"""The router: admission by the rate limiter and the circuit breakers, retries, and fallback models.

All of this happens before the first token, because a reply comes from a single model. This is the only retry
loop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from chat.upstream import token_budget
from chat.upstream.catalogue import Catalogue, LlmModel, UnknownModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Client
from chat.upstream.completion_stream import CompletionStream, NotStreamed
from chat.upstream.errors import NOT_REQUESTED, ErrorKind, UpstreamError
from chat.upstream.timeouts import Backoff, RetryPolicy

from .circuit_breaker import CircuitBreaker, QuotaBreaker
from .rate_limiter import RateLimiter
from .wait_queue import PositionCallback, ignore_position

# Errors that open a circuit breaker; an error of any other kind shows that the model responds.
BREAKER_FAILURES = {ErrorKind.BUSY, ErrorKind.TIMEOUT, ErrorKind.UNAVAILABLE, ErrorKind.INTERRUPTED}
# Errors that justify a fallback, because another model may not have them.
FALLBACK_ERRORS = BREAKER_FAILURES | {ErrorKind.THROTTLED, ErrorKind.QUOTA, ErrorKind.UNKNOWN_MODEL}
RETRY_POLICY = RetryPolicy()


def ignore_attempt(stream: CompletionStream) -> None:
    pass


def ignore_error(model: LlmModel, error: UpstreamError) -> None:
    pass


class Router:
    """The router of all requests of a process. `fallbacks`: ids of models, tried in this order."""

    def __init__(
        self,
        client: Client,
        catalogue: Callable[[], Catalogue],
        limiter: RateLimiter,
        fallbacks: Sequence[str] = (),
        *,
        breaker: Callable[[], CircuitBreaker] = CircuitBreaker,
        allowance: QuotaBreaker | None = None,
        retry_policy: RetryPolicy = RETRY_POLICY,
        on_error: Callable[[LlmModel, UpstreamError], None] = ignore_error,
    ) -> None:
        """`on_error` is called with each error of a model other than the local one."""
        self.limiter = limiter
        self.quota_breaker = allowance or QuotaBreaker()
        self.client = client
        self.retry_policy = retry_policy
        self._catalogue = catalogue
        self._fallbacks = fallbacks
        self._make_breaker = breaker
        self._breakers: dict[str, CircuitBreaker] = {}
        self.on_error = on_error

    @asynccontextmanager
    async def stream(
        self,
        ask: ChatRequest,
        on_position: PositionCallback = ignore_position,
        *,
        allow_fallback: bool = True,
        wait: bool = True,
        on_attempt: Callable[[CompletionStream], None] = ignore_attempt,
    ) -> AsyncIterator[CompletionStream]:
        """Open a stream, up to its first token: `async with router.stream(ask) as stream: async for …`

        `on_position` gets the position in the wait queue, and 0 when the request is sent. `allow_fallback`
        False: no other model may answer, as when a reply is continued. `wait` False: at the rate limit,
        UpstreamError (throttled) with `retry_after` is raised at once, as API clients expect. `on_attempt`
        gets each stream before it is opened, because a failed one has a log entry at the gateway too.

        Raises UpstreamError, that of the requested model, if no model could answer.
        """
        others = self.fallbacks_for(ask.model) if allow_fallback else []
        routing = _Routing(self, ask, others, wait, on_position, on_attempt)
        async with AsyncExitStack() as stack:
            yield await routing.open(stack)

    def breaker(self, model: LlmModel) -> CircuitBreaker:
        if model.id not in self._breakers:
            self._breakers[model.id] = self._make_breaker()
        return self._breakers[model.id]

    def fallbacks_for(self, model: LlmModel) -> list[LlmModel]:
        """Return the fallback models; none for the local model, whose prompts must not leave this machine."""
        return [] if model.local else [other for other in self._available() if other.id != model.id]

    def _available(self) -> Iterator[LlmModel]:
        catalogue = self._catalogue()
        for name in self._fallbacks:
            try:
                model = catalogue.get(name)
            except UnknownModel:
                continue  # retired since the process started
            if not catalogue.is_restricted(model):  # the user may not be allowed to use a restricted model
                yield model


@dataclass(slots=True)
class _Routing:
    """The state of one request on its way to the model that answers it."""

    router: Router
    ask: ChatRequest
    others: list[LlmModel]
    wait: bool
    on_position: PositionCallback
    on_attempt: Callable[[CompletionStream], None]
    rate_limited: set[str] = field(default_factory=set)  # ids of models that rate-limited this request

    async def open(self, stack: AsyncExitStack) -> CompletionStream:
        """Enter into `stack` the first stream that yields a token or ends normally, and return it.

        Raises UpstreamError, that of the requested model.
        """
        failure: UpstreamError | None = None
        for ask in self._requests():
            try:
                stream = await self._open(stack, ask)
            except UpstreamError as error:
                failure = failure or error
                if error.kind not in FALLBACK_ERRORS:
                    break
            else:
                stream.fallback_reason = failure.kind.value if failure else ""
                return stream
        assert failure is not None
        raise failure

    def _requests(self) -> Iterator[ChatRequest]:
        yield self.ask
        for model in self.others:
            try:
                fit = token_budget.fit(self.ask.messages, model, self.ask.max_tokens)
            except UpstreamError:
                continue  # the prompt does not fit into its context window
            yield replace(self.ask, messages=fit.messages, model=model, max_tokens=fit.max_tokens)

    async def _open(self, stack: AsyncExitStack, ask: ChatRequest) -> CompletionStream:
        """Request a reply from one model, with retries. Raises UpstreamError after the last one."""
        model = ask.model
        is_last = model in self.others[-1:] or not self.others
        await self._check_admission(model)
        self.on_position(0)
        if not is_last and model.counts_against_quota:
            ask = _reject_if_busy(ask)
        started = asyncio.get_running_loop().time()
        backoff = Backoff(self.router.retry_policy, self.router.client.is_retried_by_gateway(model))
        whole = False
        while True:
            stream = self.router.client.stream(ask, started, whole=whole)
            self.on_attempt(stream)
            try:
                async with AsyncExitStack() as attempt:
                    await attempt.enter_async_context(stream)
                    await stream.begin()
                    stack.push_async_exit(attempt.pop_all())
            except NotStreamed:
                whole = True
            except UpstreamError as error:
                self._record_failure(model, error)
                delay = backoff.delay_after(error, streamed=stream.streams, time_left=stream.time_left)
                if delay is None or not self._should_retry(ask, error, is_last=is_last):
                    raise
                await asyncio.sleep(delay)
                if not await self._may_retry(model):
                    raise
            else:
                self._record_success(model)
                return stream

    async def _check_admission(self, model: LlmModel) -> None:
        """Wait for the rate limit. Raises UpstreamError if no request may be sent."""
        if model.local:
            return
        self._check_breakers(model, claim=False)  # fail before waiting in the queue
        if model.counts_against_quota:
            if self.wait:
                await self.router.limiter.acquire(model, self.on_position)
            elif seconds := await self.router.limiter.acquire_or_delay(model):
                raise UpstreamError(ErrorKind.THROTTLED, retry_after=seconds, detail="not asked")
        self._check_breakers(model, claim=True)

    def _check_breakers(self, model: LlmModel, *, claim: bool) -> None:
        """Raise UpstreamError if the quota is spent or the model's breaker is open.

        `claim`: a request follows, so take the trial that an open breaker allows.
        """
        allowance, breaker = self.router.quota_breaker, self.router.breaker(model)
        if model.counts_against_quota and not (allowance.try_acquire() if claim else allowance.may_acquire()):
            raise UpstreamError(ErrorKind.QUOTA, retry_after=allowance.retry_after(), detail="not asked")
        if not (breaker.try_acquire() if claim else breaker.retry_after() == 0):
            error = UpstreamError(breaker.kind, retry_after=breaker.retry_after(), detail="not asked")
            error.message = NOT_REQUESTED
            raise error

    def _should_retry(self, ask: ChatRequest, error: UpstreamError, *, is_last: bool) -> bool:
        """Return True if the same model may be tried again.

        Not a busy one if a fallback model is left or the request has the option `rejectIfBusy`.
        """
        rejects_if_busy = not is_last or "options" in ask.raw_parameters
        if self.router.breaker(ask.model).is_open or (error.kind is ErrorKind.BUSY and rejects_if_busy):
            return False
        return self.wait or error.kind is not ErrorKind.THROTTLED

    async def _may_retry(self, model: LlmModel) -> bool:
        """Check again after the delay: the breaker must be closed, and no other request may be waiting."""
        if self.router.breaker(model).is_open:
            return False
        return not model.counts_against_quota or await self.router.limiter.try_acquire(model)

    def _record_success(self, model: LlmModel) -> None:
        if not model.local:
            self.router.breaker(model).record_success()
        if model.counts_against_quota:
            self.router.quota_breaker.record_success()
            self.router.limiter.on_success(model)

    def _record_failure(self, model: LlmModel, error: UpstreamError) -> None:
        """Report the error to the rate limiter, the breakers and the catalogue, for the next requests."""
        if model.local:
            return
        router = self.router
        router.on_error(model, error)
        if model.counts_against_quota:
            if error.kind is ErrorKind.THROTTLED:
                self._record_rate_limit(model, error)
                return
            router.limiter.on_success(model)
            if error.kind is ErrorKind.QUOTA:
                router.quota_breaker.record_refusal(error.retry_after or 0.0)
                return
        if error.kind in BREAKER_FAILURES:
            router.breaker(model).record_failure(error.kind)
        else:
            router.breaker(model).record_success()

    def _record_rate_limit(self, model: LlmModel, error: UpstreamError) -> None:
        """Report a 429 response once per request and model, however often the request was retried."""
        if model.id not in self.rate_limited:
            self.rate_limited.add(model.id)
            self.router.limiter.on_rate_limited(model, error.retry_after_header)


def _reject_if_busy(ask: ChatRequest) -> ChatRequest:
    """Make Workers AI reject the request instead of queueing it when busy, because a fallback can answer."""
    return replace(ask, raw_parameters={**ask.raw_parameters, "options": {"rejectIfBusy": True}})
