"""One request on its way to the model that answers it: admission, retries, fallbacks, and their records."""

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from chat.upstream import pictures, token_budget
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest, without_tools
from chat.upstream.completion_stream import CompletionStream, NotStreamed
from chat.upstream.error_bodies import is_quoted
from chat.upstream.errors import MODEL_PAUSED, ErrorKind, UpstreamError

from .circuit_breaker import BREAKER_FAILURES
from .rate_limiter import PositionCallback

if TYPE_CHECKING:
    from .router import Router

# Errors that justify a fallback, because another model may not have them.
FALLBACK_ERRORS = BREAKER_FAILURES | {ErrorKind.THROTTLED, ErrorKind.QUOTA, ErrorKind.UNKNOWN_MODEL}
BACKGROUND_SHARE = 0.8  # of a rate limit, up to which background requests are sent; the rest is for replies


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The rule for retries: at most `max_retries`, with exponential backoff and jitter.

    `base_delay` and `max_total_delay` in seconds.
    """

    max_retries: int = 2
    base_delay: float = 2.0
    max_total_delay: float = 15.0


@dataclass(slots=True)
class Backoff:
    """The delays before the retries of one request.

    `handled_by_gateway`: the AI Gateway retries error responses of the provider, so the router does not.
    """

    policy: RetryPolicy
    handled_by_gateway: bool = False
    _retries: int = field(default=0, init=False)
    _total_delay: float = field(default=0.0, init=False)

    def delay_after(self, error: UpstreamError, *, streamed: bool, time_left: float) -> float | None:
        """Return the seconds to wait before the next retry, None for no retry.

        `time_left`: seconds until the deadline of the first token.
        """
        if error.permanent or self._retries >= self.policy.max_retries:
            return None
        if self.handled_by_gateway and error.status is not None:
            return None
        if not streamed and error.kind is ErrorKind.TIMEOUT:
            return None  # the server has already had the longest time it is given
        delay = error.retry_after
        if delay is None:
            delay = random.uniform(0.25, 1) * self.policy.base_delay * 2**self._retries
        if self._total_delay + delay > self.policy.max_total_delay or delay > time_left:
            return None
        self._retries += 1
        self._total_delay += delay
        return delay


@dataclass(slots=True)
class RoutedRequest:
    """One request on its way to the model that answers it: `async with` gives the stream of that model.

    `attempt`: the latest stream, set before it is opened, because a failed one has a log entry at the gateway
    too.
    """

    router: "Router"
    request: ChatRequest
    fallbacks: list[LlmModel]
    wait: bool
    background: bool
    on_position: PositionCallback
    attempt: CompletionStream | None = None
    rate_limited: set[str] = field(default_factory=set)  # ids of models that rate-limited this request
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def person(self) -> str:
        """The pseudonym of who asks; "" for requests of the site itself."""
        return self.request.metadata.get("person", "")

    async def __aenter__(self) -> CompletionStream:
        """Open the first stream that yields a token or ends normally, and return it.

        Raises UpstreamError, that of the requested model.
        """
        failure: UpstreamError | None = None
        for request in self._requests():
            try:
                stream = await self._open_with_retries(request)
            except UpstreamError as error:
                failure = failure or error
                if error.kind not in FALLBACK_ERRORS:
                    break
            else:
                stream.fallback_reason = failure.kind.value if failure else ""
                return stream
        assert failure is not None
        raise failure

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    def _requests(self) -> Iterator[ChatRequest]:
        yield self.request
        shows_pictures = pictures.has_pictures(self.request.messages)
        for model in self.fallbacks:
            if shows_pictures and not model.vision:
                continue  # it would answer a question about pictures without having seen them
            if model.host is not self.request.model.host and pictures.need_their_server(
                self.request.messages
            ):
                continue  # its server may not fetch or read them
            request = self.request
            if "tools" in request.raw_parameters and not model.tools:
                if request.messages[-1]["role"] == "tool":
                    continue  # it knows nothing of results
                request = without_tools(request)
            tools = request.raw_parameters.get("tools") or ()
            try:
                fit = token_budget.fit(
                    request.messages,
                    model,
                    request.max_tokens,
                    needed=_messages_from_question(request.messages),
                    declared=token_budget.declaration_tokens(tools, model),
                )
            except UpstreamError:
                continue  # the prompt does not fit into its context window
            if fit.dropped and request.sent_parts:
                continue  # the messages that do not fit may hold a document
            yield replace(request, messages=fit.messages, model=model, max_tokens=fit.max_tokens)

    async def _open_with_retries(self, request: ChatRequest) -> CompletionStream:
        """Request a reply from one model, with retries. Raises UpstreamError after the last one."""
        model = request.model
        await self._admit(model)
        self.on_position(0)
        if model.counts_against_quota and (self.background or not self._is_last(model)):
            request = _reject_if_busy(request)
        started = asyncio.get_running_loop().time()
        backoff = Backoff(self.router.retry_policy, self.router.client.is_retried_by_gateway(model))
        unstreamed = False
        while True:
            stream = self.router.client.stream(request, started, unstreamed=unstreamed)
            try:
                await self._open_stream(stream)
            except NotStreamed:
                if self.background:
                    raise
                unstreamed = True
            except UpstreamError as error:
                self._record_failure(request, error)
                self.router.tell(model, error)
                if not await self._wait_to_retry(request, error, stream, backoff):
                    self._record_outcome(model, error)
                    raise
            else:
                self._record_success(model)
                self.router.tell(model, None)
                return stream

    async def _open_stream(self, stream: CompletionStream) -> None:
        """Send the request, and keep the stream open if it begins. Raises UpstreamError."""
        self.attempt = stream
        async with AsyncExitStack() as attempt:
            await attempt.enter_async_context(stream)
            await stream.begin()
            self._stack = attempt.pop_all()

    async def _wait_to_retry(
        self, request: ChatRequest, error: UpstreamError, stream: CompletionStream, backoff: Backoff
    ) -> bool:
        """Wait, and return True if the same model may then be tried again."""
        delay = backoff.delay_after(error, streamed=stream.streams, time_left=stream.time_left)
        if delay is None or not self._should_retry(request, error):
            return False
        await asyncio.sleep(delay)
        return await self._reacquire(request.model)

    async def _admit(self, model: LlmModel) -> None:
        """Wait for the rate limit. Raises UpstreamError if no request may be sent."""
        if model.local:
            return
        self._check_breakers(model, claim=False)  # fail before waiting in the queue
        if model.counts_against_quota:
            if self.wait:
                await self.router.limiter.acquire(model, self.on_position)
            else:
                await self._acquire_now(model)
        self._check_breakers(model, claim=True)

    async def _acquire_now(self, model: LlmModel) -> None:
        """Raise UpstreamError (throttled) if a request to the model would have to wait."""
        limiter = self.router.limiter
        share = BACKGROUND_SHARE if self.background else 1.0
        seconds = await limiter.acquire_or_delay(model, share)
        if seconds:
            raise UpstreamError(ErrorKind.THROTTLED, retry_after=seconds, detail="not requested")

    def _check_breakers(self, model: LlmModel, *, claim: bool) -> None:
        """Raise UpstreamError if the quota is spent or the model's breaker is open.

        `claim`: a request follows, so take the trial that an open breaker allows.
        """
        quota, breaker = self.router.quota_breaker, self.router.breaker(model)
        spent = quota.retry_after(self.person)
        if self.background and (spent or breaker.is_open_to(self.person)):  # the trial is for a reply
            kind = ErrorKind.QUOTA if spent else breaker.kind
            raise UpstreamError(kind, detail="not requested")
        may_send = quota.try_acquire if claim else quota.may_acquire
        if model.counts_against_quota and not may_send(self.person):
            raise UpstreamError(ErrorKind.QUOTA, retry_after=spent, detail="not requested")
        wait = breaker.retry_after(self.person)
        if wait or (claim and not breaker.try_acquire(self.person)):
            error = UpstreamError(breaker.kind, retry_after=wait, detail="not requested")
            error.message = MODEL_PAUSED
            raise error

    def _should_retry(self, request: ChatRequest, error: UpstreamError) -> bool:
        """Return True if the same model may be tried again.

        Not a busy one if a fallback model is left or the request has the option `rejectIfBusy`.
        """
        if self.background:
            return False
        rejects_if_busy = not self._is_last(request.model) or "options" in request.raw_parameters
        if error.kind is ErrorKind.BUSY and rejects_if_busy:
            return False
        if self.router.breaker(request.model).is_open_to(self.person):
            return False
        return self.wait or error.kind is not ErrorKind.THROTTLED

    def _is_last(self, model: LlmModel) -> bool:
        return not self.fallbacks or model == self.fallbacks[-1]

    async def _reacquire(self, model: LlmModel) -> bool:
        """Count a retry and return True if the breaker is still closed and no other request is waiting."""
        if self.router.breaker(model).is_open_to(self.person):
            return False
        return not model.counts_against_quota or await self.router.limiter.try_acquire(model)

    def _record_success(self, model: LlmModel) -> None:
        if not model.local:
            self.router.breaker(model).record_success(self.person)
        if model.counts_against_quota:
            self.router.quota_breaker.record_success()
            self.router.limiter.record_accepted(model)

    def _record_failure(self, request: ChatRequest, error: UpstreamError) -> None:
        """Note in the error who asked, and report it to the rate limiter and the quota's breaker.

        A background request asked to be rejected by a busy model, which then still answers others.
        """
        router, model = self.router, request.model
        error.person = self.person
        if model.local or (self.background and error.kind is ErrorKind.BUSY):
            return
        sent = [request.messages, request.raw_parameters, request.gateway]
        error.quotes_request = is_quoted(error.detail, error.param, sent)
        if model.counts_against_quota:
            if error.kind is ErrorKind.THROTTLED:
                self._record_rate_limit(model, error)
                return
            router.limiter.record_accepted(model)
            if error.kind is ErrorKind.QUOTA and not error.quotes_request:
                router.quota_breaker.record_refusal(error.retry_after or 0.0, self.person)

    def _record_outcome(self, model: LlmModel, error: UpstreamError) -> None:
        """Report a request that failed after all its retries to the model's breaker, once."""
        if model.local or (self.background and error.kind is ErrorKind.BUSY):
            return
        if model.counts_against_quota and error.kind in (ErrorKind.QUOTA, ErrorKind.THROTTLED):
            return  # which have limiters of their own
        self.router.breaker(model).record_error(error, self.person)

    def _record_rate_limit(self, model: LlmModel, error: UpstreamError) -> None:
        """Report a 429 response once per request and model, however often the request was retried."""
        if model.id not in self.rate_limited:
            self.rate_limited.add(model.id)
            self.router.limiter.record_rate_limited(model, error.retry_after_header)


def _reject_if_busy(request: ChatRequest) -> ChatRequest:
    """Have Workers AI reject it instead of queueing it when busy: a fallback can answer, or nobody waits."""
    return replace(request, raw_parameters={**request.raw_parameters, "options": {"rejectIfBusy": True}})


def _messages_from_question(messages: Sequence[Mapping[str, Any]]) -> int:
    """Return how many messages the last question has with what follows it, such as the results of tools."""
    roles = [message["role"] for message in reversed(messages)]
    return roles.index("user") + 1 if "user" in roles else 1
