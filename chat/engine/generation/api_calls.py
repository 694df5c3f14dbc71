"""The API calls of this process: each reply goes straight to the client, its outcome to the database.

Unlike a run, a call ends with its connection, because no client could resume it.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from chat.background import BackgroundTasks
from chat.db import THREADS, run_in_db
from chat.engine.outcome import INTERNAL_ERROR, RunOutcome, outcome_of_error
from chat.fair_executor import Turns
from chat.limits import MAX_LIVE_RUNS, MAX_REPLY_CHARS
from chat.models import Call
from chat.turns.call_transcript import CallTranscript, save_call
from chat.upstream.chat_request import ChatRequest
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.gateway_log import NO_GATEWAY, GatewayLogRef
from chat.upstream.routing.router import Router
from chat.wire.frames import Delta
from chat.wire.usage import Usage

STORE_AGAIN_SECONDS = 2.0
SHARE = THREADS // 2  # database threads that one key's starting calls may use, and one user's ending calls
REVOKED, DRAINED = "revoked", "draining"

logger = logging.getLogger(__name__)


class CallAborted(Exception):
    """The server aborted a call; `code` is REVOKED or DRAINED."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ApiCalls:
    """The calls that are in progress. To be used on the event loop only."""

    def __init__(self, router: Router) -> None:
        self.open: set[ActiveCall] = set()
        self.router = router
        self.tasks = BackgroundTasks()  # the shutdown waits for them
        self.beginnings = Turns(SHARE)  # by API key
        self.endings = Turns(SHARE)  # by user

    @property
    def is_full(self) -> bool:
        return len(self.open) >= MAX_LIVE_RUNS

    def start(self, call: Call, ask: ChatRequest, kept: CallTranscript | None) -> "ActiveCall":
        """Begin a call whose row is committed.

        The client gets the model it named or an error: no fallback, and no place in the wait queue. Programs
        can handle 429 and `Retry-After`, and would take a long wait for a server that hangs.
        """
        return ActiveCall(self, call, ask, kept)

    async def wait(self, timeout: float, hurry: asyncio.Event) -> None:
        """Wait until all calls have ended, for at most `timeout` seconds or until `hurry` is set."""
        deadline = asyncio.get_running_loop().time() + timeout
        while self.open and not hurry.is_set() and asyncio.get_running_loop().time() < deadline:
            with suppress(TimeoutError):
                await asyncio.wait_for(hurry.wait(), 0.1)

    async def abort_all(self, within: float) -> None:
        """Abort the calls that are left. Wait `within` seconds for them, then as long for the database."""
        for exchange in list(self.open):
            exchange.abort(DRAINED)
        await self.wait(within, asyncio.Event())
        await self.tasks.wait(within)  # outcomes that a hanging database does not take are left to recovery

    def conclude(self, exchange: "ActiveCall", ending: RunOutcome) -> asyncio.Task[None]:
        """Store an outcome in a task of its own, because the call's own task may be cancelled meanwhile."""
        self.open.discard(exchange)
        return self.tasks.start(_conclude(exchange, ending), f"call {exchange.call.pk}")


class ActiveCall:
    """A call in progress. `requested`: the name that the client sent, if that model has a successor."""

    def __init__(self, calls: ApiCalls, call: Call, ask: ChatRequest, kept: CallTranscript | None) -> None:
        self.call = call
        self.transcript = kept
        self.requested = ""
        self.truncated = False
        self.stored: asyncio.Future[None] | None = None
        self.calls = calls
        self._ask = ask
        self._stream: CompletionStream | None = None  # of the latest upstream attempt
        self._length = 0
        self._abort_code = ""
        self._timeout: asyncio.Timeout | None = None
        calls.open.add(self)

    @property
    def usage(self) -> Usage | None:
        return self._stream.usage if self._stream else None

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        return self._stream.tool_calls if self._stream else []

    @property
    def request_id(self) -> str:
        return self._stream.request_id if self._stream else ""

    @property
    def passage(self) -> GatewayLogRef:
        return self._stream.gateway_log_ref if self._stream else NO_GATEWAY

    @property
    def finish_reason(self) -> str:
        """The finish reason, as OpenAI names it, of a reply that has ended."""
        if self.truncated:
            return "length"
        if self.tool_calls:
            return "tool_calls"
        return (self._stream.finish_reason if self._stream else "") or "stop"

    def abort(self, code: str) -> None:
        """End the call from outside: the consumer of `deltas` gets CallAborted.

        It fires the one timeout of the whole call, so a token costs nothing more.
        """
        if self._abort_code:
            return
        self._abort_code = code
        if self._timeout is not None:
            self._timeout.reschedule(asyncio.get_running_loop().time())

    async def deltas(self) -> AsyncGenerator[Delta, None]:
        """Yield the model's deltas. Raises UpstreamError, and CallAborted after `abort`.

        When it has ended or raised, the outcome is stored (during an outage, it is retried later). When its
        consumer leaves early, a background task stores the outcome.
        """
        ending = None
        try:
            async with (
                asyncio.timeout(0 if self._abort_code else None) as self._timeout,
                self._open() as reply,
            ):
                async for delta in reply:
                    self._on_delta(delta)
                    yield delta
                    if self.truncated:
                        break
                if not (self.truncated or reply.complete):
                    raise UpstreamError(ErrorKind.INTERRUPTED)
            cut = self.finish_reason == "length"
            ending = RunOutcome(Call.Status.TRUNCATED if cut else Call.Status.COMPLETE, self.finish_reason)
        except TimeoutError:
            status = Call.Status.STOPPED if self._abort_code == REVOKED else Call.Status.INTERRUPTED
            ending = RunOutcome(status, code=self._abort_code)
            raise CallAborted(self._abort_code) from None
        except UpstreamError as error:
            ending = outcome_of_error(error)
            raise
        except Exception:
            ending = RunOutcome(Call.Status.FAILED, code="server", message=INTERNAL_ERROR)
            raise
        finally:
            # Without an outcome the client has disconnected: nothing waits for the database.
            self.stored = self.calls.conclude(self, ending or RunOutcome(Call.Status.STOPPED))
            if ending:
                await asyncio.shield(self.stored)

    def _open(self) -> AbstractAsyncContextManager[CompletionStream]:
        router = self.calls.router
        return router.stream(self._ask, allow_fallback=False, wait=False, on_attempt=self._note_attempt)

    def _note_attempt(self, stream: CompletionStream) -> None:
        self._stream = stream

    def abandon(self, deltas: AsyncGenerator[Delta, None]) -> None:
        """Close `deltas` in the background: the client disconnected before all of it was read."""
        self.calls.tasks.start(_close(deltas))

    def _on_delta(self, delta: Delta) -> None:
        if self.call.first_token is None:
            self.call.first_token = timezone.now()
        self._length += len(delta.text) + len(delta.reasoning)
        self.truncated = self._length >= MAX_REPLY_CHARS
        if self.transcript:
            self.transcript.add_delta(delta)


async def _close(deltas: AsyncGenerator[Delta, None]) -> None:
    await deltas.aclose()


async def _conclude(exchange: ActiveCall, ending: RunOutcome) -> None:
    """Store an outcome, with retries during an outage. If the process ends first, recovery ends the call."""
    ending = replace(
        ending,
        usage=exchange.usage,
        request_id=ending.request_id or exchange.request_id,
        gateway_log_ref=exchange.passage,
    )
    outcome = ending.to_columns() | {"first_token": exchange.call.first_token}
    if not await _store(exchange, outcome):
        exchange.calls.tasks.start(_keep_storing(exchange, outcome))


async def _store(exchange: ActiveCall, outcome: dict[str, Any]) -> bool:
    try:
        async with exchange.calls.endings.of(exchange.call.user_id):
            await run_in_db(save_call, exchange.call, outcome, exchange.transcript, exchange.tool_calls)
    except DatabaseError as error:
        logger.error("the end of a call could not be written, trying again: %s", type(error).__name__)
        return False
    return True


async def _keep_storing(exchange: ActiveCall, outcome: dict[str, Any]) -> None:
    """Retry until the outcome is stored. The client does not wait for this."""
    while True:
        await asyncio.sleep(STORE_AGAIN_SECONDS)
        if await _store(exchange, outcome):
            return
