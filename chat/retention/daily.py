"""Pruning once a day, by one of all processes."""

import asyncio
import logging
import random
import threading
from datetime import timedelta

from django.db import DatabaseError

from chat.db import DatabaseExecutor
from chat.models import MaintenanceTask

from .kinds import prune

POLL_SECONDS = 900.0  # mean time between two attempts to claim the task
INTERVAL = timedelta(days=1)

logger = logging.getLogger(__name__)


async def prune_daily() -> None:
    """Prune once a day until cancelled. A cancellation lets the current batch of rows finish."""
    thread, stopping = DatabaseExecutor("db-prune"), threading.Event()
    try:
        while True:
            await asyncio.sleep(POLL_SECONDS * random.uniform(0.5, 1.5))
            try:
                if await thread(MaintenanceTask.objects.claim, MaintenanceTask.PRUNE, INTERVAL):
                    _report(await thread(prune, stopping.is_set))
            except (DatabaseError, OSError) as error:
                logger.warning("pruning failed, and is tried again tomorrow: %s", type(error).__name__)
    finally:
        stopping.set()
        await asyncio.get_running_loop().run_in_executor(None, thread.close)


def _report(deleted: dict[str, int]) -> None:
    if went := ", ".join(f"{count} {name}" for name, count in deleted.items() if count):
        logger.info("pruned %s", went)
