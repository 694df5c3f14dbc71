"""The check behind `/readyz`: the database of this process answers, and accepts writes."""

import asyncio
import time

from django.db import DatabaseError, connection

from chat.db.background import spawn
from chat.db.errors import Outage, damage_seen, outage_of
from chat.db.executor import DatabaseExecutor
from chat.models import MaintenanceTask

CACHE_SECONDS = 1.0  # a result younger than this is returned again
DATABASE_TIMEOUT_SECONDS = 3.0  # a database that answers later counts as `Outage.SILENT`
WRITE_INTERVAL_SECONDS = 10.0  # pause between two test writes, however often `/readyz` is requested
LOCK_WAIT_MILLISECONDS = 1_000  # longest wait of the test write for another writer of SQLite


class Readiness:
    """One probe at a time, on its own thread and connection: a hanging database blocks nothing else."""

    def __init__(self) -> None:
        self._thread = DatabaseExecutor("db-probe")
        self._probe: asyncio.Task[Outage | None] | None = None
        self._probed_at = -CACHE_SECONDS
        self._wrote_at = -WRITE_INTERVAL_SECONDS
        self._last_write: Outage | None = None

    async def check(self) -> Outage | None:
        """Return the outage, or None if there is none, within `DATABASE_TIMEOUT_SECONDS`."""
        loop = asyncio.get_running_loop()
        is_old = loop.time() - self._probed_at >= CACHE_SECONDS
        if self._probe is None or (self._probe.done() and is_old):
            self._probed_at = loop.time()
            self._probe = spawn(self._thread(self._run))
        done, _ = await asyncio.wait({self._probe}, timeout=DATABASE_TIMEOUT_SECONDS)
        return self._probe.result() if done else Outage.SILENT

    async def stop(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._thread.close)

    def _run(self) -> Outage | None:
        """Probe on a fresh connection, because a kept one reads damaged pages from its cache."""
        connection.close()
        try:
            return self._read() or self._write()
        finally:
            connection.close()

    def _read(self) -> Outage | None:
        try:
            MaintenanceTask.objects.exists()
        except DatabaseError as error:
            return outage_of(error) or Outage.AWAY
        return Outage.DAMAGED if damage_seen.is_set() else None

    def _write(self) -> Outage | None:
        """Commit a row, as every send needs to. Return the outage, if any.

        While another writer holds the lock, the result of the previous write counts.
        """
        if time.monotonic() - self._wrote_at < WRITE_INTERVAL_SECONDS and self._last_write is None:
            return None
        try:
            if connection.vendor == "sqlite":
                connection.cursor().execute(f"PRAGMA busy_timeout = {LOCK_WAIT_MILLISECONDS}")
            MaintenanceTask.objects.note(MaintenanceTask.WRITE_PROBE)
            found = None
        except DatabaseError as error:
            found = outage_of(error) or Outage.AWAY
        if found is not Outage.BUSY:
            self._last_write = found
        self._wrote_at = time.monotonic()
        return self._last_write
