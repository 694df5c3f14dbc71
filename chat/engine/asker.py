"""Asks for a reply as often as it is of use: not beyond the minute's limit, not where nobody answers, and
where another model may answer instead, that one. All of it before the first token; a reply has one author."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from chat.upstream import budget
from chat.upstream.ask import Ask
from chat.upstream.catalogue import Catalogue, Model, UnknownModel
from chat.upstream.client import Client
from chat.upstream.errors import Kind, UpstreamError
from chat.upstream.passage import NOWHERE, Passage
from chat.upstream.patience import rest
from chat.upstream.reply import Reply
from chat.wire.frames import Delta
from chat.wire.usage import Usage

from .breaker import Allowance, Breaker
from .limiter import Limiter
from .line import Tell, tell_nobody

# Failures that a breaker counts; a refusal of any other kind shows that the model answers.
COUNTED = {Kind.BUSY, Kind.TIMEOUT, Kind.UNAVAILABLE, Kind.INTERRUPTED}
# Failures that another model may not have.
HELPED = COUNTED | {Kind.THROTTLED, Kind.QUOTA, Kind.UNKNOWN_MODEL}


class Asker:
    """One for all replies of a process. `fallbacks` are ids of models, tried in this order."""

    def __init__(
        self,
        client: Client,
        catalogue: Callable[[], Catalogue],
        limiter: Limiter,
        fallbacks: Sequence[str] = (),
        *,
        breaker: Callable[[], Breaker] = Breaker,
        allowance: Allowance | None = None,
    ) -> None:
        self.limiter = limiter
        self.allowance = allowance or Allowance()
        self.client = client
        self._catalogue = catalogue
        self._fallbacks = fallbacks
        self._make_breaker = breaker
        self._breakers: dict[str, Breaker] = {}
        self.on_refusal: Callable[[Model, UpstreamError], None] = lambda model, error: None

    def reply(
        self, ask: Ask, tell: Tell = tell_nobody, *, fall_back: bool = True, waits: bool = True
    ) -> "Answer":
        """Like `Client.reply`. `tell` hears the place in the line, and 0 when it is asked.

        `fall_back` False: no other model may answer, as where a reply goes on that one began. `waits` False:
        what is too much for a minute raises UpstreamError (throttled) at once, with `retry_after`, as
        programs expect it.
        """
        return Answer(self, ask, tell, fall_back=fall_back, waits=waits)

    def breaker(self, model: Model) -> Breaker:
        if model.id not in self._breakers:
            self._breakers[model.id] = self._make_breaker()
        return self._breakers[model.id]

    def others(self, model: Model) -> list[Model]:
        """Who may answer instead. What was meant for the model on this machine does not leave it."""
        return [] if model.local else [other for other in self._offered() if other.id != model.id]

    def _offered(self) -> Iterator[Model]:
        offered = self._catalogue()
        for name in self._fallbacks:
            try:
                model = offered.get(name)
            except UnknownModel:
                continue  # retired since the start
            if not offered.for_some(model):  # whoever asks may not be among them
                yield model


class Answer:
    """Like `Reply`: `async with asker.reply(…) as reply: async for delta in reply: …`

    `model` is the one that answers, and `because` the kind of failure for which it is not the one asked.
    """

    def __init__(self, asker: Asker, ask: Ask, tell: Tell, *, fall_back: bool, waits: bool) -> None:
        self.model = ask.model
        self.because = ""
        self._asker = asker
        self._ask = ask
        self._tell = tell
        self._others = asker.others(ask.model) if fall_back else []
        self._reply: Reply | None = None
        self._opened = AsyncExitStack()
        # From the second on, deltas come from the reply itself: a step between would cost each of them.
        self._next: Callable[[], Awaitable[Delta]] = self._begin
        self._noted: UpstreamError | None = None
        self._waits = waits
        self._throttled: set[str] = (
            set()
        )  # models whose limiter heard already that they refused this question

    @property
    def usage(self) -> Usage | None:
        return self._reply.usage if self._reply else None

    @property
    def complete(self) -> bool:
        return self._reply is not None and self._reply.complete

    @property
    def finish_reason(self) -> str:
        return self._reply.finish_reason if self._reply else ""

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        return self._reply.tool_calls if self._reply else []

    @property
    def request_id(self) -> str:
        return self._reply.request_id if self._reply else ""

    @property
    def passage(self) -> Passage:
        return self._reply.passage if self._reply else NOWHERE

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._opened.__aexit__(kind, error, trace)

    def __aiter__(self) -> Self:
        return self

    def __anext__(self) -> Awaitable[Delta]:
        return self._next()

    async def _begin(self) -> Delta:
        failure: UpstreamError | None = None
        for ask in self._asks():
            try:
                delta = await self._first(ask, is_last=ask.model in self._others[-1:] or not self._others)
            except UpstreamError as error:
                failure = failure or error
                if error.kind not in HELPED:
                    break
            else:
                self.model, self.because = ask.model, failure.kind.value if failure else ""
                if delta is None:
                    raise StopAsyncIteration
                return delta
        assert failure is not None
        raise failure  # of the model that was asked: what another one said is not what was wanted

    def _asks(self) -> Iterator[Ask]:
        yield self._ask
        for model in self._others:
            try:
                fit = budget.fit(self._ask.messages, model, self._ask.max_tokens)
            except UpstreamError:
                continue  # its window is too small for the question
            yield replace(self._ask, messages=fit.messages, model=model, max_tokens=fit.max_tokens)

    async def _first(self, ask: Ask, *, is_last: bool) -> Delta | None:
        """The first delta; None where the model had nothing to say."""
        model = ask.model
        if not model.local:
            self._refuse_where_closed(model, claim=False)
            if model.metered:
                await self._enter(model)
            self._refuse_where_closed(model, claim=True)
        self._tell(0)
        try:
            return await self._open(ask, is_last=is_last)
        except UpstreamError as error:
            self._note(model, error)
            raise

    async def _enter(self, model: Model) -> None:
        limiter = self._asker.limiter
        if self._waits:
            await limiter.enter(model, self._tell)
        elif seconds := await limiter.claim(model):
            raise UpstreamError(Kind.THROTTLED, retry_after=seconds, detail="not asked")

    async def _open(self, ask: Ask, *, is_last: bool) -> Delta | None:
        if not is_last and ask.model.metered:
            ask = _impatient(ask)

        async def again(error: UpstreamError, pause: float) -> bool:
            return await self._may_call_again(ask.model, error, pause, is_last=is_last)

        async with AsyncExitStack() as stack:
            self._reply = reply = await stack.enter_async_context(self._asker.client.reply(ask, again))
            delta = await anext(reply, None)
            self._next = reply.__anext__
            self._opened = stack.pop_all()
        if not ask.model.local:
            self._asker.breaker(ask.model).succeeded()
        if ask.model.metered:
            self._asker.allowance.succeeded()
            self._asker.limiter.answered(ask.model)
        return delta

    async def _may_call_again(
        self, model: Model, error: UpstreamError, pause: float, *, is_last: bool
    ) -> bool:
        self._note(model, error)
        breaker = self._asker.breaker(model)
        if breaker.is_open or (error.kind is Kind.BUSY and not is_last):
            return False
        if error.kind is Kind.THROTTLED and not self._waits:
            return False
        await rest(error, pause)
        if not model.metered:
            return not breaker.is_open
        return not breaker.is_open and await self._asker.limiter.enter_at_once(model)

    def _refuse_where_closed(self, model: Model, *, claim: bool) -> None:
        """Raises UpstreamError where no call is to be made. `claim`: else the caller makes one."""
        allowance, breaker = self._asker.allowance, self._asker.breaker(model)
        if model.metered and not (allowance.admits() if claim else allowance.may_admit()):
            raise UpstreamError(Kind.QUOTA, retry_after=allowance.left(), detail="not asked")
        if not (breaker.admits() if claim else breaker.left() == 0):
            raise UpstreamError(breaker.kind, retry_after=breaker.left(), detail="not asked")

    def _note(self, model: Model, error: UpstreamError) -> None:
        """What a failure means for those who ask next. Each is told once."""
        if model.local or error is self._noted:
            return
        self._noted = error
        asker = self._asker
        asker.on_refusal(model, error)
        if model.metered:
            if error.kind is Kind.THROTTLED:
                self._note_throttled(model, error)
                return
            asker.limiter.answered(model)
            if error.kind is Kind.QUOTA:
                asker.allowance.refused(error.retry_after or 0.0)
                return
        if error.kind in COUNTED:
            asker.breaker(model).failed(error.kind)
        else:
            asker.breaker(model).succeeded()

    def _note_throttled(self, model: Model, error: UpstreamError) -> None:
        """One question counts once, however often it was asked again."""
        if model.id not in self._throttled:
            self._throttled.add(model.id)
            self._asker.limiter.refused(model, error.retry_after_header)


def _impatient(ask: Ask) -> Ask:
    """Refused at once where it would wait in the queue of a model at Cloudflare: another can answer."""
    return replace(ask, sent={**ask.sent, "options": {"rejectIfBusy": True}})
