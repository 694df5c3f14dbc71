"""The API calls of this process: each reply goes straight to the client, its outcome to the database.

Unlike a run, a call ends with its connection, because no client could resume it.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError
from django.utils import timezone

from chat.conversations.turns.call_transcript import CallTranscript, save_call
from chat.db.background import BackgroundTasks, FailureLog
from chat.db.executor import REQUEST_THREADS, run_in_db
from chat.db.fair_executor import ConcurrencyLimit
from chat.engine.outcome import INTERNAL_ERROR, RunOutcome, outcome_of_error
from chat.limits import MAX_LIVE_RUNS, MAX_REPLY_CHARS
from chat.models import Call
from chat.models.model_request import OutcomeColumns
from chat.upstream.chat_request import ChatRequest
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.ai_gateway import NO_GATEWAY, GatewayLogRef
from chat.upstream.routing.router import Router
from chat.wire.delta import Delta
from chat.wire.usage import Usage

if TYPE_CHECKING:
    from chat.engine.metrics import EngineMetrics

STORE_RETRY_SECONDS = 2.0
STORE_THREADS = REQUEST_THREADS // 2  # database threads that one user's ended calls may use
REVOKED, DRAINED = "revoked", "draining"


class CallAborted(Exception):
    """The server aborted a call; `code` is REVOKED or DRAINED."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ApiCalls:
    """The calls that are in progress. To be used on the event loop only."""

    def __init__(self, router: Router, metrics: "EngineMetrics | None") -> None:
        self.metrics = metrics
        self.open: set[ActiveCall] = set()
        self.router = router
        self.tasks = BackgroundTasks()  # the shutdown waits for them
        self.store_limit = ConcurrencyLimit(STORE_THREADS)  # by user
        self.store_log = FailureLog("storing the outcomes of API calls", level=logging.ERROR)

    @property
    def is_full(self) -> bool:
        return len(self.open) >= MAX_LIVE_RUNS

    async def wait(self, timeout: float, force: asyncio.Event) -> None:
        """Wait until all calls have ended, for at most `timeout` seconds or until `force` is set."""
        deadline = asyncio.get_running_loop().time() + timeout
        while self.open and not force.is_set() and asyncio.get_running_loop().time() < deadline:
            with suppress(TimeoutError):
                await asyncio.wait_for(force.wait(), 0.1)

    async def abort_all(self, within: float) -> None:
        """Abort the calls that are left. Wait `within` seconds for them, then as long for the database."""
        for active_call in list(self.open):
            active_call.abort(DRAINED)
        await self.wait(within, asyncio.Event())
        await self.tasks.wait(within)  # outcomes that a hanging database does not take are left to recovery

    def finish(self, active_call: "ActiveCall", outcome: RunOutcome) -> asyncio.Task[None]:
        """Store an outcome in a task of its own, because the call's own task may be cancelled meanwhile."""
        self.open.discard(active_call)
        return self.tasks.start(_finish(active_call, outcome), f"call {active_call.call.pk}")


class ActiveCall:
    """A call in progress, whose row is committed.

    The client gets the model it named or an error: no fallback, and no place in the wait queue. Programs can
    handle 429 and `Retry-After`, and would take a long wait for a server that hangs.

    `requested`: the name that the client sent, if that model has a successor.
    """

    def __init__(
        self, calls: ApiCalls, call: Call, request: ChatRequest, transcript: CallTranscript | None
    ) -> None:
        self.call = call
        self.transcript = transcript
        self.requested = ""
        self.truncated = False
        self.stored: asyncio.Future[None] | None = None
        self.calls = calls
        self._routed = calls.router.stream(request, allow_fallback=False, wait=False)
        self._length = 0  # code points of text and reasoning
        self._abort_code = ""
        self._timeout: asyncio.Timeout | None = None
        calls.open.add(self)

    @property
    def _stream(self) -> CompletionStream | None:
        """The latest upstream attempt."""
        return self._routed.attempt

    @property
    def usage(self) -> Usage | None:
        return self._stream.usage if self._stream else None

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        return self._stream.decoder.tool_calls if self._stream else []

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The passages that AI Search gave to the model, as it sent them."""
        return self._stream.decoder.chunks if self._stream else []

    @property
    def request_id(self) -> str:
        return self._stream.request_id if self._stream else ""

    @property
    def gateway_log_ref(self) -> GatewayLogRef:
        return self._stream.gateway_log_ref if self._stream else NO_GATEWAY

    @property
    def finish_reason(self) -> str:
        """The finish reason, as OpenAI names it, of a reply that has ended."""
        reason = self._stream.decoder.finish_reason if self._stream else ""
        if self.truncated:
            return "length"
        if reason in ("length", "content_filter"):
            return reason  # of a tool call too: it must not be run
        if self.tool_calls:
            return "tool_calls"
        return reason if reason and reason != "tool_calls" else "stop"

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
        outcome = None
        try:
            async with (
                asyncio.timeout(0 if self._abort_code else None) as self._timeout,
                self._routed as stream,
            ):
                async for delta in stream:
                    self._note(delta)
                    yield delta
                    if self.truncated:
                        break
                if not (self.truncated or stream.complete):
                    raise UpstreamError(ErrorKind.INTERRUPTED)
            outcome = self._outcome_at_end()
        except TimeoutError:
            outcome = self._outcome_of_abort()
            raise CallAborted(self._abort_code) from None
        except UpstreamError as error:
            outcome = outcome_of_error(error)
            raise
        except Exception:
            outcome = RunOutcome(Call.Status.FAILED, code="server", message=INTERNAL_ERROR)
            raise
        finally:
            # Without an outcome the client has disconnected: nothing waits for the database.
            self.stored = self.calls.finish(self, outcome or RunOutcome(Call.Status.STOPPED))
            if outcome:
                await asyncio.shield(self.stored)

    def _outcome_at_end(self) -> RunOutcome:
        cut = self.finish_reason == "length"
        return RunOutcome(Call.Status.TRUNCATED if cut else Call.Status.COMPLETE, self.finish_reason)

    def _outcome_of_abort(self) -> RunOutcome:
        status = Call.Status.STOPPED if self._abort_code == REVOKED else Call.Status.INTERRUPTED
        return RunOutcome(status, code=self._abort_code)

    def _note(self, delta: Delta) -> None:
        if self.call.first_token is None:
            self.call.first_token = timezone.now()
        self._length += len(delta.shown_text) + len(delta.reasoning)
        self.truncated = self._length >= MAX_REPLY_CHARS
        if self.transcript:
            self.transcript.add_delta(delta)


async def _finish(active_call: ActiveCall, outcome: RunOutcome) -> None:
    """Store an outcome, with retries during an outage. If the process ends first, recovery ends the call."""
    outcome = replace(
        outcome,
        usage=active_call.usage,
        request_id=outcome.request_id or active_call.request_id,
        gateway_log_ref=active_call.gateway_log_ref,
    )
    if metrics := active_call.calls.metrics:
        metrics.count_call(active_call.call, outcome)
    columns: OutcomeColumns = {**outcome.to_columns(), "first_token": active_call.call.first_token}
    if not await _store(active_call, columns):
        active_call.calls.tasks.start(_keep_storing(active_call, columns))


async def _store(active_call: ActiveCall, columns: OutcomeColumns) -> bool:
    try:
        async with active_call.calls.store_limit.slot(active_call.call.user_id):
            await run_in_db(
                save_call, active_call.call, columns, active_call.transcript, active_call.tool_calls
            )
    except DatabaseError as error:
        active_call.calls.store_log.failed(error)
        return False
    active_call.calls.store_log.succeeded()
    return True


async def _keep_storing(active_call: ActiveCall, columns: OutcomeColumns) -> None:
    """Retry until the outcome is stored. The client does not wait for this."""
    while True:
        await asyncio.sleep(STORE_RETRY_SECONDS)
        if await _store(active_call, columns):
            return
