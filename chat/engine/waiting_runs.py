"""Runs that wait until the person has answered for calls of tools: they have no task and no owner.

The process that takes the last answer claims the run and goes on with it; the others show what it stores.
"""

import asyncio
import uuid
from functools import partial

from django.utils import translation

from chat.catalog.catalog import CurrentCatalog
from chat.conversations.turns import waiting
from chat.conversations.turns.waiting import ClaimedRun
from chat.db.background import BackgroundTasks, log_failure
from chat.db.executor import run_in_db
from chat.engine.cluster import RemoteRuns
from chat.engine.document_ranking import MAX_RANKINGS, DocumentRanking
from chat.engine.generation.supervisor import Supervisor
from chat.engine.streaming.run_state import RunState
from chat.engine.titles import Titles
from chat.files.passages.best_passages import Ranked
from chat.ownership.heartbeat import HeartbeatTask
from chat.ownership.protocol import Lease
from chat.wire.position import Position

SWEEP_INTERVAL_SECONDS = 5.0
LAST_CLAIM_SECONDS = 3.0  # longest wait for the database at shutdown


class WaitingRuns:
    """To be used on the event loop only."""

    def __init__(
        self,
        lease: Lease[uuid.UUID],
        catalog: CurrentCatalog,
        supervisor: Supervisor,
        remote_runs: RemoteRuns,
        document_ranking: DocumentRanking,
        titles: Titles,
        heartbeat: HeartbeatTask,
    ) -> None:
        self._lease, self._catalog = lease, catalog
        self._supervisor, self._remote_runs = supervisor, remote_runs
        self._document_ranking, self._titles, self._heartbeat = document_ranking, titles, heartbeat
        self._tasks = BackgroundTasks()
        self._claims = BackgroundTasks()
        self._stopped = False

    def start(self) -> None:
        self._tasks.repeat(self._sweep, SWEEP_INTERVAL_SECONDS, "late answers")

    async def stop(self) -> None:
        """Claim no further run, and launch those that are being claimed."""
        self._stopped = True
        await self._tasks.cancel()
        await self._claims.wait(LAST_CLAIM_SECONDS)

    def adopt(self, state: RunState) -> None:
        """Keep showing a run that has begun to wait. Its calls may have been answered before that."""
        self._remote_runs.adopt(state)
        self._start(state.info.run)

    async def go_on(self, run: uuid.UUID) -> None:
        """Generate a waiting run from here, if all its calls are answered and no other process does.

        A failure is logged: the answers are stored, and the next sweep goes on.
        """
        # Shielded from cancellation: a client that disconnects would leave a claimed run without a task.
        await asyncio.shield(self._start(run))

    def _start(self, run: uuid.UUID) -> "asyncio.Task[None]":
        claim = self._claim(run, translation.get_language())
        return self._claims.start(log_failure(claim, "a run that waited"))

    async def _claim(self, run: uuid.UUID, language: str) -> None:
        ranked: Ranked | None = None
        for _attempt in range(MAX_RANKINGS):
            if self._stopped or run in self._supervisor.states:
                return  # in `states` it is being stored: `adopt` follows
            await self._heartbeat.confirm()
            queued = self._supervisor.is_full
            claimed = await run_in_db(
                partial(waiting.claim, run, self._lease, self._catalog.get(), queued=queued, ranked=ranked)
            )
            if claimed is None:
                return
            if isinstance(claimed, ClaimedRun):
                with translation.override(claimed.language or language):
                    self._launch(claimed)
                return
            ranked = await self._document_ranking.rank(*claimed)

    def _launch(self, claimed: ClaimedRun) -> None:
        run, request = claimed.run, claimed.request
        state = self._remote_runs.take(run)
        state.apply(Position(), claimed.text, claimed.reasoning)
        self._titles.expect(run, request)
        self._supervisor.launch(run, state, request)

    async def _sweep(self) -> None:
        """Decline calls that nobody has answered in time, and go on with runs that nobody goes on with."""
        for run in await run_in_db(waiting.decline_late):
            await self.go_on(run)
