"""The heartbeat of this process. After each one, the runs and calls of dead processes are recovered."""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from django.db import DatabaseError

from chat.db.background import BackgroundTasks, FailureLog
from chat.db.executor import DatabaseExecutor
from chat.models import Worker

from . import recovery
from .journal import is_locked
from .protocol import HEARTBEAT_SECONDS, Lease

LAST_HEARTBEAT_SECONDS = 3.0  # longest wait for the database at shutdown

logger = logging.getLogger(__name__)


class HeartbeatTask:
    """Renew the lease on a thread of its own, so that a busy pool cannot make this process look dead.

    Recovery has another thread: it may wait for rows that a frozen process has locked, and a dead process may
    have left many runs.
    """

    def __init__(
        self,
        worker: Worker,
        lease: Lease[uuid.UUID],
        folder: Path,
        running: Callable[[], Collection[uuid.UUID]],
    ) -> None:
        """`running` returns the ids of the runs that tasks of this process write."""
        self._worker = worker
        self._lease = lease
        self._folder = folder
        self._running = running
        self._thread = DatabaseExecutor("db-heartbeat")
        self._recovery_thread = DatabaseExecutor("db-recovery")
        self._recovery: asyncio.Task[None] | None = None
        self._recovery_log = FailureLog("recovery")
        self._sent = 0.0
        self._tasks = BackgroundTasks()

    async def start(self) -> None:
        """Register this process and recover from dead ones, before the first request is served."""
        await self.renew()
        # `repeat` continues after a failure; without heartbeats this process would count as dead.
        self._tasks.repeat(self.renew, self._pause, "heartbeat")
        assert self._recovery
        await self._recovery

    async def stop(self) -> None:
        await self._tasks.cancel()
        try:
            await asyncio.wait_for(self._thread(recovery.unregister, self._worker.pk), LAST_HEARTBEAT_SECONDS)
        except (DatabaseError, TimeoutError) as error:
            logger.warning("this worker's row could not be removed: %s", type(error).__name__)
        await asyncio.gather(
            self._thread.aclose(LAST_HEARTBEAT_SECONDS), self._recovery_thread.aclose(LAST_HEARTBEAT_SECONDS)
        )

    async def renew(self) -> None:
        """Send one heartbeat, and begin a recovery unless one is going on. Raises DatabaseError."""
        self._sent = sent = time.monotonic()
        running = set(self._running())
        try:
            state = await self._thread(recovery.heartbeat, self._worker, self._lease.epoch)
        except BaseException:
            self._lease.failed()
            raise
        self._lease.renewed(sent, time.monotonic(), state.workers)
        abandoned = self._lease.abandoned(state.own_runs, running)
        if self._recovery is None or self._recovery.done():
            fences = self._lease.to_fence(state.owners, partial(is_locked, self._folder))
            work = self._recovery_thread(recovery.recover, self._folder, self._worker.pk, fences, abandoned)
            self._recovery = self._tasks.start(self._recovery_log.watch(work), "recovery")

    def _pause(self) -> float:
        """Return the seconds until the next heartbeat: over a slow link, one takes seconds itself."""
        return max(0.0, self._sent + HEARTBEAT_SECONDS - time.monotonic())

    async def confirm(self) -> None:
        """Renew the lease if it may be lost; to be called before a run begins. Raises DatabaseError."""
        if not self._lease.is_certain(time.monotonic()):
            await self.renew()
