"""The runs of this process: each a task of the server, which only `stop` or the server's end cuts short."""

import asyncio
import logging
import uuid
from collections.abc import Collection
from typing import Any

from chat.background import spawn
from chat.engine.outcome import BROKEN, Ending, failure, fallback_sentence
from chat.engine.streaming.run_state import Live
from chat.limits import LIVE_RUNS, LONGEST_REPLY
from chat.models import Run
from chat.ownership.journal import Journal
from chat.turns.request_metadata import signed
from chat.upstream.chat_request import Ask
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.errors import UpstreamError
from chat.upstream.routing.router import Router
from chat.upstream.routing.wait_queue import Line

from .active_run import Draft
from .overlap import Seam
from .writer import Verdict, Writer

KEEP_FINISHED = 60.0  # seconds a finished run stays in memory for those who come back

logger = logging.getLogger(__name__)


class Supervisor:
    """Launches, stops and drains runs. Everything here happens on the event loop."""

    def __init__(self, router: Router, worker: uuid.UUID, journal: Journal) -> None:
        self.lives: dict[uuid.UUID, Live] = {}
        self._router = router
        self.writer = Writer(worker, journal, self.obey)
        self._tasks: dict[uuid.UUID, asyncio.Task[Ending]] = {}
        self._reasons: dict[uuid.UUID, str] = {}
        self._slots = asyncio.Semaphore(LIVE_RUNS)
        self._line = Line()

    @property
    def is_full(self) -> bool:
        """The next run has to queue."""
        return len(self._tasks) >= LIVE_RUNS or self._router.limiter.has_line

    def has_ended(self, run: uuid.UUID) -> bool:
        """It ran here and is over, stored or about to be."""
        return run in self.lives and run not in self._tasks

    def launch(self, run: Run, live: Live, ask: Ask) -> None:
        """Start a run whose row is committed."""
        draft = Draft(live, run, Seam(live.about.earlier))
        self.lives[run.pk] = live
        self.writer.add(draft)
        task = self._tasks[run.pk] = spawn(self._generate(draft, ask), f"run {run.pk}")
        # Not a `finally` in the task: one cancelled before its first step never enters its body.
        task.add_done_callback(lambda task: self._ended(draft, task))

    def stop(self, run: uuid.UUID, status: str = Run.Status.STOPPED) -> bool:
        """End a run of this process, keeping its text. Says whether it was here and still going."""
        task = self._tasks.get(run)
        if task is None or run in self._reasons:
            return task is not None
        self._reasons[run] = status
        task.cancel()
        return True

    def obey(self, verdict: Verdict) -> None:
        """Stop what somebody elsewhere asked to stop, and what another process took from us."""
        for run in verdict.stopped:
            self.stop(run)
        for run in verdict.lost:
            self.stop(run, Run.Status.INTERRUPTED)
        for run in verdict.endings:
            asyncio.get_running_loop().call_later(KEEP_FINISHED, self._forget, run)

    def running(self) -> Collection[uuid.UUID]:
        """The runs that are not stored as ended yet."""
        return [run for run, live in self.lives.items() if live.ending is None]

    def _forget(self, run: uuid.UUID) -> None:
        if live := self.lives.pop(run, None):
            live.close()

    async def wait(self, timeout: float, hurry: asyncio.Event) -> None:
        """Let the runs end by themselves for `timeout` seconds, or until `hurry` is set."""
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

    def _ended(self, draft: Draft, task: asyncio.Task[Ending]) -> None:
        run = draft.run.pk
        del self._tasks[run]
        reason = self._reasons.pop(run, Run.Status.INTERRUPTED)
        if task.cancelled():
            ending = Ending(reason)
        elif error := task.exception():
            logger.error("run %s broke", run, exc_info=error)
            ending = Ending(Run.Status.FAILED, code="server", message=BROKEN)
        else:
            ending = task.result()
        draft.live.append(draft.seam.close())
        self.writer.conclude(draft, ending)

    async def _generate(self, draft: Draft, ask: Ask) -> Ending:
        ask = signed(ask, draft.run)
        if self._slots.locked():
            await self._line.wait(self._slots.acquire, draft.live.wait_at)
        else:
            await self._slots.acquire()
        try:
            return await self._write(draft, ask)
        finally:
            self._slots.release()

    async def _write(self, draft: Draft, ask: Ask) -> Ending:
        live = draft.live
        room = LONGEST_REPLY - len(live.about.earlier)
        attempt = self._router.stream(
            ask, draft.wait_at, allow_fallback=not live.about.earlier, on_attempt=draft.note_attempt
        )
        try:
            async with attempt as reply:
                self._meet(draft, ask, reply)
                async for delta in reply:
                    if draft.first_text is None:
                        draft.hear(delta.text)
                    if self.writer.is_behind:
                        await self.writer.caught_up()
                    live.append(
                        draft.seam.feed(delta.text)[: room - len(live.text)],
                        delta.reasoning[: LONGEST_REPLY - len(live.reasoning)],
                    )
                    if len(live.text) >= room or len(live.reasoning) >= LONGEST_REPLY:
                        return _at_length(live, usage=reply.usage)
        except UpstreamError as error:
            return failure(error)
        if not reply.complete:
            return Ending(Run.Status.INTERRUPTED, usage=reply.usage, request_id=reply.request_id)
        how: dict[str, Any] = {"request_id": reply.request_id, "usage": reply.usage}
        if reply.finish_reason == "length":
            return _at_length(live, **how)
        return Ending.at_end(live.about.earlier + live.text, reply.finish_reason, **how)

    def _meet(self, draft: Draft, ask: Ask, reply: CompletionStream) -> None:
        """Note who answers, where it is not the model that was asked."""
        if because := reply.fallback_reason:
            draft.answered_by, draft.because = reply.model.id, because
            names = {"model": reply.model.name, "asked": ask.model.name}
            draft.live.answered_by(reply.model.id, fallback_sentence(because), **names)


def _at_length(live: Live, **more: Any) -> Ending:
    return Ending.at_length(live.about.earlier + live.text, live.reasoning, **more)
