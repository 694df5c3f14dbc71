"""The heart of this process, and the end of runs whose process lost its own."""

import asyncio
import logging
import uuid
from datetime import timedelta
from pathlib import Path

from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from chat.models import Run, RunChunk, Worker

from . import lifeline
from .database import DatabaseThreads

BEAT = 3.0  # seconds; a worker silent for 12 is dead, so a death is seen within 12 + 3
KEEP_WORKERS = timedelta(days=1)  # how long a dead worker's row stays to be looked at

logger = logging.getLogger(__name__)


class Sweeper:
    """Beats and sweeps on a thread of its own: a busy pool must not make this process look dead."""

    def __init__(self, worker: Worker, folder: Path) -> None:
        self._worker = worker
        self._folder = folder
        self._thread = DatabaseThreads("db-sweeper")
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Announce this process and clean up after dead ones, before anything is served."""
        await self._thread(register, self._worker)
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
                await self._thread(beat, self._worker)
                await self._thread(sweep, self._folder)
            except DatabaseError as error:
                logger.warning("the heartbeat could not be written: %s", type(error).__name__)


def register(worker: Worker) -> None:
    worker.save(force_insert=True)


def beat(worker: Worker) -> None:
    """One heartbeat. A row that somebody removed is made again."""
    if not Worker.objects.filter(pk=worker.pk).update(beat=Now(), channel=worker.channel):
        Worker(id=worker.pk, channel=worker.channel, host=worker.host, pid=worker.pid).save(force_insert=True)


def leave(worker: uuid.UUID) -> None:
    """Remove the worker's row. One that could not store all endings stays, for its runs to be swept."""
    if not Run.objects.live().filter(worker_id=worker).exists():
        Worker.objects.filter(pk=worker).delete()


def sweep(folder: Path) -> int:
    """Interrupt the runs of dead workers, keeping their text. Any process may, any number of times."""
    swept = 0
    owners = set(Run.objects.live().values_list("worker_id", flat=True).distinct())
    silent = set(Worker.objects.filter(pk__in=owners).silent().values_list("pk", flat=True))
    for worker in owners:
        if worker in silent or lifeline.is_known_dead(folder, worker):
            swept += _interrupt_runs_of(worker)
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
