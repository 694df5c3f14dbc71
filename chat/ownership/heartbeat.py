"""This process's heartbeat, and with each one the recovery of what dead processes left."""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from django.db import DatabaseError

from chat.background import BackgroundTasks
from chat.db import DatabaseExecutor
from chat.models import Worker

from . import recovery
from .process_lock import is_locked
from .protocol import HEARTBEAT_SECONDS, Lease

LAST_SECONDS = 3.0  # that a process which ends waits for the database

logger = logging.getLogger(__name__)


class HeartbeatTask:
    """Renews the lease on a thread of its own: a busy pool must not make this process look dead."""

    def __init__(
        self,
        worker: Worker,
        lease: Lease[uuid.UUID],
        folder: Path,
        running: Callable[[], Collection[uuid.UUID]],
    ) -> None:
        """`running` lists the runs that tasks of this process write."""
        self._worker = worker
        self._lease = lease
        self._folder = folder
        self._running = running
        self._thread = DatabaseExecutor("db-heartbeat")
        self._tasks = BackgroundTasks()

    async def start(self) -> None:
        """Announce this process and end what dead ones left, before anything is served."""
        await self.renew()
        # One that failed for good would let this process look dead.
        self._tasks.repeat(self.renew, HEARTBEAT_SECONDS, "heartbeat")

    async def stop(self) -> None:
        await self._tasks.cancel()
        try:
            await asyncio.wait_for(self._thread(recovery.unregister, self._worker.pk), LAST_SECONDS)
        except (DatabaseError, TimeoutError) as error:
            logger.warning("this worker's row could not be removed: %s", type(error).__name__)
        await self._thread.aclose(LAST_SECONDS)

    async def renew(self) -> None:
        """One heartbeat and one recovery. Raises DatabaseError."""
        sent = time.monotonic()
        running = set(self._running())
        try:
            state = await self._thread(recovery.heartbeat, self._worker, self._lease.epoch)
        except BaseException:
            self._lease.failed()
            raise
        self._lease.renewed(sent, time.monotonic(), state.workers)
        fences = self._lease.to_fence(state.owners, partial(is_locked, self._folder))
        abandoned = self._lease.abandoned(state.own_runs, running)
        await self._thread(recovery.recover, self._folder, self._worker.pk, fences, abandoned)

    async def confirm(self) -> None:
        """Renew a lease that may have been lost, before a run begins under it. Raises DatabaseError."""
        if not self._lease.is_certain(time.monotonic()):
            await self.renew()
