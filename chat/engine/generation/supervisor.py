"""The runs of this process. Each is a task that only `stop` or the server's shutdown ends early."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.utils import translation

from chat.conversations.tools.registry import tools_for
from chat.conversations.turns.prompt import with_metadata
from chat.db.background import spawn
from chat.engine.outcome import INTERNAL_ERROR, RunOutcome, fallback_sentence, outcome_of_error
from chat.engine.streaming.run_state import RunState
from chat.engine.titles import Titles
from chat.limits import MAX_LIVE_RUNS, MAX_REPLY_CHARS
from chat.models import Run
from chat.models.run import LIVE
from chat.ownership.journal import Journal
from chat.upstream.chat_request import ChatRequest
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.errors import UpstreamError
from chat.upstream.routing.rate_limiter import WaitQueue
from chat.upstream.routing.router import Router
from chat.wire.usage import total_usage

from .active_run import ActiveRun
from .run_storage import WriteResult
from .search_first import write_queries
from .tool_loop import SEARCHES, ToolLoop
from .writer import Writer

if TYPE_CHECKING:
    from chat.engine.metrics import EngineMetrics

logger = logging.getLogger(__name__)


class Supervisor:
    """Launch, stop and drain runs. To be used on the event loop only."""

    def __init__(
        self,
        router: Router,
        worker: uuid.UUID,
        journal: Journal,
        titles: Titles,
        metrics: "EngineMetrics | None",
        released: Callable[[RunState], None],
    ) -> None:
        """`released` is told of each run that lives on without us: it waits, or another process has it."""
        self._released = released
        self.states: dict[uuid.UUID, RunState] = {}
        self._titles = titles
        self._metrics = metrics
        self._router = router
        self._worker = worker
        self.writer = Writer(worker, journal, self.apply_write_result)
        self._tasks: dict[uuid.UUID, asyncio.Task[RunOutcome]] = {}
        self._stop_statuses: dict[uuid.UUID, str] = {}
        self._stored: set[uuid.UUID] = set()  # runs in `states` whose outcome is in the database
        self._slots = asyncio.Semaphore(MAX_LIVE_RUNS)
        self._queue = WaitQueue()

    @property
    def is_full(self) -> bool:
        """True if the next run has to queue."""
        return len(self._tasks) >= MAX_LIVE_RUNS or self._router.limiter.has_waiters

    @property
    def queued(self) -> int:
        """The number of runs that wait because this process generates as many as it may."""
        return len(self._queue)

    def is_finished(self, run: uuid.UUID) -> bool:
        """Return True if this process generated the run and it has ended, stored or not yet."""
        return run in self.states and run not in self._tasks

    def launch(self, run: Run, state: RunState, request: ChatRequest) -> None:
        """Start a run whose row is committed."""
        active_run = ActiveRun.of(run, state)
        tools = tools_for(run.tools) if run.tools else []
        if run.suspended or any(request.model.tools or tool.name in SEARCHES for tool in tools):
            active_run.tool_loop = ToolLoop(active_run, tools, self._worker, translation.get_language())
        self.states[run.pk] = state
        self.writer.add(active_run)
        # Here, because the task has an empty context without a request id.
        request = with_metadata(request, run)
        task = self._tasks[run.pk] = spawn(self._generate(active_run, request), f"run {run.pk}")
        # Not a `finally` in the task: a task cancelled before its first step never enters its body.
        task.add_done_callback(lambda task: self._on_task_done(active_run, task))

    def stop(self, run: uuid.UUID, status: str = Run.Status.STOPPED) -> bool:
        """End a run and keep its text. Return True if it was still running in this process."""
        task = self._tasks.get(run)
        if task is None or run in self._stop_statuses:
            return task is not None
        self._stop_statuses[run] = status
        task.cancel()
        return True

    def apply_write_result(self, result: WriteResult) -> None:
        """Stop runs with a stop request and runs that another process took; request titles for first replies.

        Let go of the runs that wait, or that live in another process.
        """
        for run in result.stopped:
            self.stop(run)
        for run in result.lost:
            self.stop(run, Run.Status.INTERRUPTED)
        for run, outcome in result.outcomes.items():
            self._titles.request_after(run, outcome)
            if outcome.status in LIVE:
                self._released(self.states.pop(run))
            else:
                self._stored.add(run)

    def running(self) -> Collection[uuid.UUID]:
        """Return the runs whose outcome is not stored yet."""
        return [run for run, state in self.states.items() if state.outcome is None]

    def drop_ended(self) -> None:
        """Drop the ended runs that have no viewers. Viewers who come later are shown the stored text."""
        for run in [run for run in self._stored if not self.states[run].viewers]:
            self._stored.remove(run)
            self.states.pop(run).close()

    async def wait(self, timeout: float, force: asyncio.Event) -> None:
        """Wait until all runs have ended, for at most `timeout` seconds or until `force` is set."""
        if not self._tasks:
            return
        forced = asyncio.ensure_future(force.wait())
        all_ended = asyncio.gather(*self._tasks.values(), return_exceptions=True)
        both: set[asyncio.Future[Any]] = {forced, all_ended}
        await asyncio.wait(both, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        forced.cancel()

    async def interrupt_all(self) -> None:
        tasks = list(self._tasks.values())
        for run in list(self._tasks):
            self.stop(run, Run.Status.INTERRUPTED)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_task_done(self, active_run: ActiveRun, task: asyncio.Task[RunOutcome]) -> None:
        run = active_run.run.pk
        del self._tasks[run]
        status = self._stop_statuses.pop(run, Run.Status.INTERRUPTED)
        if task.cancelled():
            outcome = RunOutcome(status, usage=active_run.run.usage)  # what was counted before it waited
        elif error := task.exception():
            logger.error("run %s broke", run, exc_info=error)
            outcome = RunOutcome(Run.Status.FAILED, code="server", message=INTERNAL_ERROR)
        else:
            outcome = task.result()
        active_run.state.append(active_run.overlap_filter.close())
        self.writer.finish(active_run, outcome)
        if self._metrics and active_run.outcome and not active_run.is_waiting:
            self._metrics.count_run(active_run.run, active_run.outcome, active_run.first_token)

    async def _generate(self, active_run: ActiveRun, request: ChatRequest) -> RunOutcome:
        if self._slots.locked():
            await self._queue.wait(self._slots.acquire, active_run.state.set_queue_position)
        else:
            await self._slots.acquire()
        try:
            if loop := active_run.tool_loop:
                return await self._stream_steps(active_run, loop, request)
            return await self._stream(active_run, request)
        finally:
            self._slots.release()

    async def _stream_steps(self, active_run: ActiveRun, loop: ToolLoop, request: ChatRequest) -> RunOutcome:
        """Stream the model's text, call the tools that it asks for, and go on until it asks for none.

        End with the status `waiting` if the person has to allow calls first.
        """
        run = active_run.run
        usage = run.usage  # of a run that has waited
        request = await loop.begin(request)
        if run.suspended:
            request = await loop.go_on(request, run.suspended)
            active_run.begin_paragraph()
        elif not request.model.tools:
            queries, usage = await write_queries(self._router, request)
            request = await loop.search_first(request, queries)
        while True:
            outcome = await self._stream(active_run, request)
            usage = total_usage(usage, outcome.usage)
            stream = active_run.stream
            calls = stream.decoder.tool_calls if stream else []
            if not calls or outcome.status != Run.Status.COMPLETE or "tools" not in request.raw_parameters:
                return replace(outcome, usage=usage)
            active_run.state.append(active_run.overlap_filter.pause())
            following = await loop.call_all(request, calls)
            if following is None:
                return RunOutcome(Run.Status.WAITING, usage=usage)
            request = following
            active_run.begin_paragraph()

    async def _stream(self, active_run: ActiveRun, request: ChatRequest) -> RunOutcome:
        state = active_run.state
        room = MAX_REPLY_CHARS - len(state.info.earlier_text)
        routed = self._router.stream(
            request, active_run.set_queue_position, allow_fallback=not state.info.earlier_text
        )
        try:
            async with routed as stream:
                self._record_model(active_run, request, stream)
                active_run.note_passages(request, stream)
                async for delta in stream:
                    text, reasoning = delta.shown_text, delta.reasoning
                    if loop := active_run.tool_loop:
                        loop.note(delta)
                        reasoning = loop.new_reasoning(reasoning)
                    if active_run.first_text_at is None:
                        active_run.mark_first_token(text)
                    if self.writer.is_behind:
                        await self.writer.caught_up()
                    state.append(
                        active_run.overlap_filter.feed(text)[: room - len(state.text)],
                        reasoning[: MAX_REPLY_CHARS - len(state.reasoning)],
                    )
                    if len(state.text) >= room or len(state.reasoning) >= MAX_REPLY_CHARS:
                        return _truncated(state, usage=stream.usage)
                active_run.note_passages(request, stream)  # of a server that sends them last
        except UpstreamError as error:
            return outcome_of_error(error)
        finally:
            active_run.stream = routed.attempt  # the last one, which may have failed
        return _outcome_at_end(state, stream)

    def _record_model(self, active_run: ActiveRun, request: ChatRequest, stream: CompletionStream) -> None:
        """Record the model that answers and tell the viewers, if it is a fallback."""
        if reason := stream.fallback_reason:
            active_run.answered_by, active_run.fallback_reason = stream.model.id, reason
            names = {"model": stream.model.name, "requested": request.model.name}
            active_run.state.set_fallback_model(stream.model.id, fallback_sentence(reason), **names)


def _outcome_at_end(state: RunState, stream: CompletionStream) -> RunOutcome:
    facts: dict[str, Any] = {"request_id": stream.request_id, "usage": stream.usage}
    if not stream.complete:
        return RunOutcome(Run.Status.INTERRUPTED, **facts)
    if stream.decoder.finish_reason == "length":
        return _truncated(state, **facts)
    return RunOutcome.at_end(state.info.earlier_text + state.text, stream.decoder.finish_reason, **facts)


def _truncated(state: RunState, **more: Any) -> RunOutcome:
    return RunOutcome.truncated(state.info.earlier_text + state.text, state.reasoning, **more)
