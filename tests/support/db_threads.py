"""The database threads of the test's own process."""

import asyncio
import threading

from django.db import connections

from chat.db.executor import REQUEST_THREADS, run_in_db
from chat.db.requester import requester

PATIENCE = 60.0  # seconds


async def close_connections() -> None:
    """PostgreSQL deletes no database that somebody is connected to; each thread has a connection."""
    requester.set(None)  # an earlier request of this context would leave half of the threads out
    all_there = threading.Barrier(REQUEST_THREADS)

    def close() -> None:
        all_there.wait(PATIENCE)
        connections.close_all()

    await asyncio.gather(*(run_in_db(close) for _ in range(REQUEST_THREADS)))
