"""The heart of this process, and the end of runs whose process lost its own."""

import asyncio
import logging
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from chat.models import Call, Run, RunChunk, Worker

from . import lifeline
from .database import DatabaseThreads

BEAT = 3.0  # seconds; a worker silent for 12 is dead, so a death is seen within 12 + 3
KEEP_WORKERS = timedelta(days=1)  # how long a dead worker's row stays to be looked at

logger = logging.getLogger(__name__)


class Sweeper:
    """Beats and sweeps on a thread of its own: a busy pool must not make this process look dead."""

    def __init__(self, worker: Worker, folder: Path, on_beat: Callable[[int], None]) -> None:
        """`on_beat` is told how many processes are alive."""
        self._worker = worker
        self._on_beat = on_beat
        self._folder = folder
        self._thread = DatabaseThreads("db-sweeper")
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Announce this process and clean up after dead ones, before anything is served."""
        self._on_beat(await self._thread(register, self._worker))
        await self._thread(sweep, self._folder)
        self._task = asyncio.create_task(self._work(), name="sweeper")

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        try:
            await self._thread(leave, self._worker.pk)
        except DatabaseError as error:
            logger.warning("this worker's row could not be removed: %s", type(error).__name__)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.close)

    async def _work(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            try:
                self._on_beat(await self._thread(beat, self._worker))
                await self._thread(sweep, self._folder)
            except DatabaseError as error:
                logger.warning("the heartbeat could not be written: %s", type(error).__name__)


def register(worker: Worker) -> int:
    """Returns how many processes are alive."""
    worker.save(force_insert=True)
    return Worker.objects.alive().count()


def beat(worker: Worker) -> int:
    """One heartbeat; returns how many processes are alive. A row that somebody removed is made again."""
    if not Worker.objects.filter(pk=worker.pk).update(beat=Now(), channel=worker.channel):
        Worker(id=worker.pk, channel=worker.channel, host=worker.host, pid=worker.pid).save(force_insert=True)
    return Worker.objects.alive().count()


def leave(worker: uuid.UUID) -> None:
    """Remove the worker's row. One that could not store all endings stays, for its runs to be swept."""
    if not any(log.objects.live().filter(worker_id=worker).exists() for log in (Run, Call)):
        Worker.objects.filter(pk=worker).delete()


def sweep(folder: Path) -> int:
    """Interrupt what dead workers were writing, keeping its text. Any process may, any number of times."""
    swept = 0
    owners = set(Run.objects.live().values_list("worker_id", flat=True).distinct())
    owners |= set(Call.objects.live().exclude(worker=None).values_list("worker_id", flat=True).distinct())
    silent = set(Worker.objects.filter(pk__in=owners).silent().values_list("pk", flat=True))
    for worker in owners:
        if worker in silent or lifeline.is_known_dead(folder, worker):
            swept += _interrupt_runs_of(worker)
            outcome = {"status": Call.Status.INTERRUPTED, "finished": Now()}
            Call.objects.live().filter(worker_id=worker).update(**outcome)
    old = Worker.objects.filter(beat__lt=Now() - KEEP_WORKERS).exclude(pk__in=owners)
    for worker in list(old.values_list("pk", flat=True)):
        lifeline.forget(folder, worker)
        Worker.objects.filter(pk=worker).delete()
    return swept


def _interrupt_runs_of(worker: uuid.UUID) -> int:
    swept = 0
    for run in Run.objects.live().filter(worker_id=worker):
        with transaction.atomic():
            text, reasoning = RunChunk.objects.texts(run.pk)
            swept += run.conclude(text, reasoning, worker=worker, status=Run.Status.INTERRUPTED)
    logger.warning("interrupted %d runs of a process that died", swept)
    return swept
