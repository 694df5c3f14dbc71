"""The schedule: pruning once a day and a sweep every ten minutes, each run by one of the processes."""

import asyncio
import logging
import random
import threading
from collections.abc import Callable
from datetime import timedelta

from chat.db.background import repeat
from chat.db.batches import Stop
from chat.db.executor import DatabaseExecutor
from chat.models import MaintenanceTask

from .kinds import prune, sweep

PRUNING_POLL_SECONDS = 900.0  # mean time between two attempts to claim the pruning
INTERVAL = timedelta(days=1)
SWEEP_POLL_SECONDS = 300.0
SWEEP_INTERVAL = timedelta(minutes=10)

logger = logging.getLogger(__name__)


async def prune_daily() -> None:
    """Prune once a day until cancelled. A cancellation waits for the current batch of rows."""
    await _repeat(MaintenanceTask.PRUNE, prune, INTERVAL, PRUNING_POLL_SECONDS)


async def sweep_often() -> None:
    """Sweep every ten minutes until cancelled: see `kinds.sweep`."""
    await _repeat(MaintenanceTask.SWEEP, sweep, SWEEP_INTERVAL, SWEEP_POLL_SECONDS)


async def _repeat(
    task: str, work: Callable[[Stop], dict[str, int]], interval: timedelta, seconds: float
) -> None:
    thread, stopping = DatabaseExecutor(f"db-{task}"), threading.Event()

    async def work_if_due() -> None:
        if await thread(MaintenanceTask.objects.claim, task, interval):
            _report(await thread(work, stopping.is_set))

    try:
        await repeat(work_if_due, lambda: seconds * random.uniform(0.5, 1.5), task)
    finally:
        stopping.set()
        await asyncio.get_running_loop().run_in_executor(None, thread.close)


def _report(deleted: dict[str, int]) -> None:
    if summary := ", ".join(f"{count} {name}" for name, count in deleted.items() if count):
        logger.info("pruned %s", summary)
