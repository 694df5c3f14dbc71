"""Text to the database: every run's new text in one transaction a tick, endings at once.

500 replies written one by one cost 79 ms a tick on SQLite, together 5.
"""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import DatabaseError, transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from chat.models import Run, RunChunk
from chat.models.run_chunk import REASONING, TEXT
from chat.upstream.passage import NOWHERE, Passage

from .asker import Answer
from .database import DatabaseThreads, writing
from .ending import Ending
from .live import Live
from .seam import Seam

TICK = 0.4  # seconds; with the commit, text is stored within 0.5
NOT_SAVED = gettext_noop("This reply is not saved yet; the server keeps trying.")
NOT_SAVED_AFTER = 10.0  # seconds an ending may fail to be stored before its viewers are told
RETRY_PAUSE = 0.4  # seconds

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Draft:
    """A live run of this process and how much of it is stored."""

    live: Live
    run: Run
    seam: Seam
    reply: Answer | None = None  # as soon as it is asked for
    saved_text: int = 0
    saved_reasoning: int = 0
    began: datetime | None = None  # when it left the queue, as long as the row does not say so
    first_token: datetime | None = None
    first_text: datetime | None = None
    answered_by: str = ""  # where it is not the model that was asked
    because: str = ""
    ending: Ending | None = None
    finished: datetime | None = None
    ending_since: float = 0.0

    def wait_at(self, place: int) -> None:
        """Note when the wait is over, and have the viewers told of it."""
        self.live.wait_at(place)
        if place == 0 and self.run.status == Run.Status.QUEUED:
            self.began = timezone.now()

    def hear(self, text: str) -> None:
        """Note when the first token came, and when the first that is no reasoning."""
        if self.first_text is None:
            now = timezone.now()
            self.first_token = self.first_token or now
            self.first_text = now if text else None

    @property
    def passage(self) -> Passage:
        """Also of a reply that was stopped or cut: its log has an entry as well."""
        return self.reply.passage if self.reply else NOWHERE

    def thought_for(self, now: datetime) -> float | None:
        """Seconds of reasoning, None where there was none."""
        if not self.live.reasoning or self.first_token is None:
            return None
        return ((self.first_text or now) - self.first_token).total_seconds()


@dataclass(slots=True)
class Batch:
    """One tick's work. Kept and repeated unchanged when its transaction fails."""

    going: set[uuid.UUID] = field(default_factory=set)
    begun: list[uuid.UUID] = field(default_factory=list)
    chunks: list[RunChunk] = field(default_factory=list)
    endings: list[Draft] = field(default_factory=list)


@dataclass(slots=True)
class Verdict:
    """What the database said: how runs ended (not always our word), which to stop, which are lost."""

    endings: dict[uuid.UUID, Ending]
    stopped: list[uuid.UUID]
    lost: list[uuid.UUID]


class Writer:
    """One task and one thread that write for all live runs of this process."""

    def __init__(self, worker: uuid.UUID, on_verdict: Callable[[Verdict], None]) -> None:
        self._worker = worker
        self._on_verdict = on_verdict
        self._thread = DatabaseThreads("db-writer")
        self._drafts: dict[uuid.UUID, Draft] = {}
        self._pending: Batch | None = None
        self._kick = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._work(), name="writer")

    def add(self, draft: Draft) -> None:
        self._drafts[draft.run.pk] = draft

    def conclude(self, draft: Draft, ending: Ending) -> None:
        """Store this ending now, then announce it to the viewers."""
        draft.finished = now = timezone.now()
        seconds = (now - draft.run.created).total_seconds()
        draft.ending = replace(
            ending,
            seconds=seconds,
            thinking_seconds=draft.thought_for(now),
            passage=draft.passage,
            answered_by=draft.answered_by,
            because=draft.because,
        )
        draft.ending_since = asyncio.get_running_loop().time()
        self._kick.set()

    async def stop(self) -> None:
        """Write what is left, endings included, and end."""
        self._stopping = True
        self._kick.set()
        if self._task:
            await self._task
        await asyncio.get_running_loop().run_in_executor(None, self._thread.close)

    async def _work(self) -> None:
        loop, failures = asyncio.get_running_loop(), 0
        due = loop.time() + TICK
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._kick.wait(), due - loop.time())
            self._kick.clear()
            tick = loop.time() >= due
            due = loop.time() + TICK if tick else due
            if await self._flush(tick=tick):
                failures = 0
                if self._stopping and not any(draft.ending for draft in self._drafts.values()):
                    return
            else:
                failures += 1
                self._tell_not_saved()
                if self._stopping and failures > 5:
                    return  # the next process finds these runs without an owner and keeps their chunks
                await asyncio.sleep(RETRY_PAUSE)

    async def _flush(self, *, tick: bool) -> bool:
        if not self._drafts:
            return True
        batch = self._pending = self._pending or self._collect(tick=tick)
        try:
            verdict = await self._thread(save, batch, self._worker)
        except DatabaseError as error:
            logger.error("the log could not be written, trying again: %s", type(error).__name__)
            return False
        self._pending = None
        for draft in batch.endings:
            del self._drafts[draft.run.pk]
            draft.live.finish(verdict.endings[draft.run.pk])
        self._on_verdict(verdict)
        return True

    def _collect(self, *, tick: bool) -> Batch:
        """Endings are written at once; with them only what is due: text that waits may never need chunks."""
        batch = Batch()
        for run, draft in self._drafts.items():
            if draft.ending:
                batch.endings.append(draft)
            if draft.ending or not tick:
                continue
            batch.going.add(run)
            if draft.began:
                draft.began = None
                batch.begun.append(run)
            if text := draft.live.text[draft.saved_text :]:
                batch.chunks.append(RunChunk(run_id=run, kind=TEXT, start=draft.saved_text, text=text))
                draft.saved_text += len(text)
            if text := draft.live.reasoning[draft.saved_reasoning :]:
                batch.chunks.append(
                    RunChunk(run_id=run, kind=REASONING, start=draft.saved_reasoning, text=text)
                )
                draft.saved_reasoning += len(text)
        return batch

    def _tell_not_saved(self) -> None:
        now = asyncio.get_running_loop().time()
        for draft in self._drafts.values():
            late = draft.ending and now - draft.ending_since > NOT_SAVED_AFTER
            if late and draft.live.said != "not_saved":
                draft.live.report("not_saved", NOT_SAVED)


def save(batch: Batch, worker: uuid.UUID) -> Verdict:
    """Write a batch in one transaction, and read how the process's own rows stand.

    Text of a run that is no longer ours (swept, or deleted with its owner) is left out: it would be refused.
    """
    with writing(), transaction.atomic():
        rows = _live_rows(worker) if batch.going else {}
        if batch.begun:
            Run.objects.filter(pk__in=batch.begun, status=Run.Status.QUEUED, worker_id=worker).update(
                status=Run.Status.RUNNING, started=timezone.now()
            )
        # A commit whose answer was lost is repeated with the same rows, which are then there already.
        if chunks := [chunk for chunk in batch.chunks if chunk.run_id in rows]:
            RunChunk.objects.bulk_create(chunks, ignore_conflicts=True)
        endings = {draft.run.pk: _conclude(draft, worker) for draft in batch.endings}
    return Verdict(
        endings,
        stopped=[run for run in batch.going if rows.get(run)],
        lost=[run for run in batch.going if run not in rows],
    )


def _live_rows(worker: uuid.UUID) -> dict[uuid.UUID, bool]:
    """This process's live runs, and whether each is asked to stop."""
    return dict(Run.objects.live().filter(worker_id=worker).values_list("pk", "stop_requested"))


def _conclude(draft: Draft, worker: uuid.UUID) -> Ending:
    assert draft.ending is not None
    live, columns = draft.live, draft.ending.columns_of_run()
    columns |= {"first_token": draft.first_token, "first_text": draft.first_text, "finished": draft.finished}
    if draft.began:
        columns["started"] = draft.began
    columns["has_chunks"] = bool(draft.saved_text or draft.saved_reasoning)
    if draft.run.conclude(live.text, live.reasoning, worker=worker, **columns):
        return draft.ending
    theirs = Run.objects.filter(pk=draft.run.pk).first()
    return Ending.of(theirs) if theirs else Ending(Run.Status.INTERRUPTED)
