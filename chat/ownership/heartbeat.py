"""The heartbeat of this process. Each one also recovers the runs and calls of dead processes."""

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

LAST_SECONDS = 3.0  # longest wait for the database at shutdown

logger = logging.getLogger(__name__)


class HeartbeatTask:
    """Renew the lease on a thread of its own, so that a busy pool cannot make this process look dead."""

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
        self._tasks = BackgroundTasks()

    async def start(self) -> None:
        """Register this process and recover from dead ones, before the first request is served."""
        await self.renew()
        # `repeat` continues after a failure; without heartbeats this process would count as dead.
        self._tasks.repeat(self.renew, HEARTBEAT_SECONDS, "heartbeat")

    async def stop(self) -> None:
        await self._tasks.cancel()
        try:
            await asyncio.wait_for(self._thread(recovery.unregister, self._worker.pk), LAST_SECONDS)
        except (DatabaseError, TimeoutError) as error:
            logger.warning("this worker's row could not be removed: %s", type(error).__name__)
        await self._thread.aclose(LAST_SECONDS)

    async def renew(self) -> None:
        """Send one heartbeat and run one recovery. Raises DatabaseError."""
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
        """Renew the lease if it may be lost; to be called before a run begins. Raises DatabaseError."""
        if not self._lease.is_certain(time.monotonic()):
            await self.renew()
