"""The runs of this process. Each is a task that only `stop` or the server's shutdown ends early."""

import asyncio
import logging
import uuid
from collections.abc import Collection
from typing import Any

from chat.background import spawn
from chat.engine.outcome import INTERNAL_ERROR, RunOutcome, fallback_sentence, outcome_of_error
from chat.engine.streaming.run_state import RunState
from chat.limits import MAX_LIVE_RUNS, MAX_REPLY_CHARS
from chat.models import Run
from chat.ownership.journal import Journal
from chat.turns.request_metadata import with_metadata
from chat.upstream.chat_request import ChatRequest
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.errors import UpstreamError
from chat.upstream.routing.router import Router
from chat.upstream.routing.wait_queue import WaitQueue

from .active_run import ActiveRun
from .overlap import OverlapFilter
from .writer import Writer, WriteResult

KEEP_FINISHED_SECONDS = 60.0  # an ended run stays in memory so long, for viewers who reconnect

logger = logging.getLogger(__name__)


class Supervisor:
    """Launch, stop and drain runs. To be used on the event loop only."""

    def __init__(self, router: Router, worker: uuid.UUID, journal: Journal) -> None:
        self.states: dict[uuid.UUID, RunState] = {}
        self._router = router
        self.writer = Writer(worker, journal, self.apply_write_result)
        self._tasks: dict[uuid.UUID, asyncio.Task[RunOutcome]] = {}
        self._reasons: dict[uuid.UUID, str] = {}
        self._slots = asyncio.Semaphore(MAX_LIVE_RUNS)
        self._queue = WaitQueue()

    @property
    def is_full(self) -> bool:
        """True if the next run has to queue."""
        return len(self._tasks) >= MAX_LIVE_RUNS or self._router.limiter.has_waiters

    def is_finished(self, run: uuid.UUID) -> bool:
        """Return whether this process generated the run and it has ended, stored or not yet."""
        return run in self.states and run not in self._tasks

    def launch(self, run: Run, live: RunState, ask: ChatRequest) -> None:
        """Start a run whose row is committed."""
        active_run = ActiveRun(live, run, OverlapFilter(live.info.earlier))
        self.states[run.pk] = live
        self.writer.add(active_run)
        task = self._tasks[run.pk] = spawn(self._generate(active_run, ask), f"run {run.pk}")
        # Not a `finally` in the task: a task cancelled before its first step never enters its body.
        task.add_done_callback(lambda task: self._on_task_done(active_run, task))

    def stop(self, run: uuid.UUID, status: str = Run.Status.STOPPED) -> bool:
        """End a run and keep its text. Return whether it was still running in this process."""
        task = self._tasks.get(run)
        if task is None or run in self._reasons:
            return task is not None
        self._reasons[run] = status
        task.cancel()
        return True

    def apply_write_result(self, result: WriteResult) -> None:
        """Stop runs with a stop request and runs that another process took; drop ended ones later."""
        for run in result.stopped:
            self.stop(run)
        for run in result.lost:
            self.stop(run, Run.Status.INTERRUPTED)
        for run in result.outcomes:
            asyncio.get_running_loop().call_later(KEEP_FINISHED_SECONDS, self._forget, run)

    def running(self) -> Collection[uuid.UUID]:
        """Return the runs whose outcome is not stored yet."""
        return [run for run, live in self.states.items() if live.outcome is None]

    def _forget(self, run: uuid.UUID) -> None:
        if live := self.states.pop(run, None):
            live.close()

    async def wait(self, timeout: float, hurry: asyncio.Event) -> None:
        """Wait until all runs have ended, for at most `timeout` seconds or until `hurry` is set."""
        if not self._tasks:
            return
        impatient = asyncio.ensure_future(hurry.wait())
        ended = asyncio.gather(*self._tasks.values(), return_exceptions=True)
        both: set[asyncio.Future[Any]] = {impatient, ended}
        await asyncio.wait(both, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        impatient.cancel()

    async def interrupt_all(self) -> None:
        tasks = list(self._tasks.values())
        for run in list(self._tasks):
            self.stop(run, Run.Status.INTERRUPTED)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_task_done(self, active_run: ActiveRun, task: asyncio.Task[RunOutcome]) -> None:
        run = active_run.run.pk
        del self._tasks[run]
        reason = self._reasons.pop(run, Run.Status.INTERRUPTED)
        if task.cancelled():
            ending = RunOutcome(reason)
        elif error := task.exception():
            logger.error("run %s broke", run, exc_info=error)
            ending = RunOutcome(Run.Status.FAILED, code="server", message=INTERNAL_ERROR)
        else:
            ending = task.result()
        active_run.state.append(active_run.overlap_filter.close())
        self.writer.conclude(active_run, ending)

    async def _generate(self, active_run: ActiveRun, ask: ChatRequest) -> RunOutcome:
        ask = with_metadata(ask, active_run.run)
        if self._slots.locked():
            await self._queue.wait(self._slots.acquire, active_run.state.set_queue_position)
        else:
            await self._slots.acquire()
        try:
            return await self._write(active_run, ask)
        finally:
            self._slots.release()

    async def _write(self, active_run: ActiveRun, ask: ChatRequest) -> RunOutcome:
        live = active_run.state
        room = MAX_REPLY_CHARS - len(live.info.earlier)
        attempt = self._router.stream(
            ask,
            active_run.set_queue_position,
            allow_fallback=not live.info.earlier,
            on_attempt=active_run.note_attempt,
        )
        try:
            async with attempt as reply:
                self._record_model(active_run, ask, reply)
                async for delta in reply:
                    if active_run.first_text is None:
                        active_run.mark_first_token(delta.text)
                    if self.writer.is_behind:
                        await self.writer.caught_up()
                    live.append(
                        active_run.overlap_filter.feed(delta.text)[: room - len(live.text)],
                        delta.reasoning[: MAX_REPLY_CHARS - len(live.reasoning)],
                    )
                    if len(live.text) >= room or len(live.reasoning) >= MAX_REPLY_CHARS:
                        return _truncated(live, usage=reply.usage)
        except UpstreamError as error:
            return outcome_of_error(error)
        if not reply.complete:
            return RunOutcome(Run.Status.INTERRUPTED, usage=reply.usage, request_id=reply.request_id)
        how: dict[str, Any] = {"request_id": reply.request_id, "usage": reply.usage}
        if reply.finish_reason == "length":
            return _truncated(live, **how)
        return RunOutcome.at_end(live.info.earlier + live.text, reply.finish_reason, **how)

    def _record_model(self, active_run: ActiveRun, ask: ChatRequest, reply: CompletionStream) -> None:
        """Record the model that answers and tell the viewers, if it is a fallback."""
        if because := reply.fallback_reason:
            active_run.answered_by, active_run.fallback_reason = reply.model.id, because
            names = {"model": reply.model.name, "asked": ask.model.name}
            active_run.state.set_fallback_model(reply.model.id, fallback_sentence(because), **names)


def _truncated(live: RunState, **more: Any) -> RunOutcome:
    return RunOutcome.truncated(live.info.earlier + live.text, live.reasoning, **more)
