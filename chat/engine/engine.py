"""The engine of one process: its parts, started and stopped in order."""

import asyncio
import logging
import os
import socket
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from chat.catalog import catalog, config
from chat.catalog.watcher import CatalogWatcher
from chat.conversations.tools.mcp.reading import ToolWatcher
from chat.conversations.turns import attached
from chat.conversations.turns.store import StoredTurn, TurnStore
from chat.db.background import BackgroundTasks, spawn
from chat.db.executor import end_idle_transactions
from chat.engine.access_monitor import AccessMonitor
from chat.engine.cluster import RemoteRuns, RunPubSub
from chat.engine.generation.api_calls import ApiCalls
from chat.engine.generation.supervisor import Supervisor
from chat.engine.streaming.run_state import RunInfo, RunState
from chat.engine.streaming.viewer import Viewers
from chat.models import Run, Worker
from chat.ownership.heartbeat import HeartbeatTask
from chat.ownership.journal import Journal, ProcessLock
from chat.ownership.protocol import Lease
from chat.telemetry import metrics
from chat.upstream.catalog import Catalog, LlmModel
from chat.upstream.client import Client
from chat.upstream.routing.rate_limiter import RateLimiter
from chat.upstream.routing.router import Router

from .document_ranking import DocumentRanking
from .gateway_feedback import GatewayFeedback
from .readiness import Readiness
from .titles import Titles
from .waiting_runs import WaitingRuns

if TYPE_CHECKING:
    from chat.engine.metrics import EngineMetrics
    from chat.upstream.routing.redis_rate_limiter import RedisRateLimiter

PING_SECONDS = 15.0  # a stream silent for so long gets an SSE comment
HOUSEKEEPING_INTERVAL_SECONDS = 0.25
SHUTDOWN_STREAM_SECONDS = 3.0  # longest wait at shutdown for open streams to send their last frames
LAST_SEND_SECONDS = 3.0  # longest wait at shutdown for turns that are being stored

logger = logging.getLogger(__name__)


class Engine:
    """All parts that stream in this process. To be created on the event loop that it works on."""

    def __init__(self) -> None:
        self.worker = Worker(id=uuid.uuid4(), host=socket.gethostname(), pid=os.getpid())
        self.lease = Lease(self.worker.pk)
        self.readiness = Readiness()
        self.draining = False
        self.force_shutdown = asyncio.Event()
        self._tasks = BackgroundTasks()
        self.sends = BackgroundTasks()  # each stores a turn and launches its run
        self.metrics = _metrics()
        self._build_upstream()
        self._build_runs()

    def _build_upstream(self) -> None:
        """Build the parts that send requests to the models: client, limits, catalog and router."""
        self.local = config.local_model()
        self.client = Client(
            config.account(),
            self.local,
            gateway=config.gateway(),
            endpoint=config.endpoint(),
            timeouts=config.timeouts(),
            load_pictures=attached.load,
        )
        self.document_ranking = DocumentRanking(self.client, alone=config.is_account_alone())
        self.gateway_feedback = GatewayFeedback(self.client)
        self._redis_rate_limiter = _redis_rate_limiter()
        self.rate_limiter = RateLimiter(
            settings.REQUESTS_PER_MINUTE,
            settings.PAID_MODEL_REQUESTS_PER_MINUTE,
            processes=self.lease.alive,
            shared=self._redis_rate_limiter,
        )
        self._catalog = catalog.current
        self._catalog.replace(catalog.initial_catalog(self._configured_models()))
        self.catalog_watcher = CatalogWatcher(
            self._configured_models, self._catalog, self.client, self._account_changed
        )
        self.tool_watcher = ToolWatcher(lambda: self.catalog_watcher.version)
        self.router = Router(
            self.client,
            self._catalog.get,
            self.rate_limiter,
            settings.FALLBACK_MODELS,
            observers=[
                self.catalog_watcher.learn,
                *([self.metrics.count_attempt] if self.metrics else []),
            ],
        )

    def _configured_models(self) -> list[LlmModel]:
        """Return the models that this site's settings add to Cloudflare's."""
        own = [self.local.model] if self.local and config.is_local_model_offered() else []
        return [*config.models(), *own]

    def _account_changed(self) -> None:
        """Use the account that the administration has connected, or none, without a restart."""
        self.client.connect(config.account())
        self.document_ranking.account_changed(alone=config.is_account_alone())
        former, self._redis_rate_limiter = self._redis_rate_limiter, _redis_rate_limiter()
        self.rate_limiter.share(self._redis_rate_limiter)
        if former:
            self._tasks.start(former.aclose())

    def _build_runs(self) -> None:
        """Build the parts that store, generate and show runs, and the ones that watch over them."""
        workers = Path(settings.DATA_DIR) / "workers"
        self._process_lock = ProcessLock(workers, self.worker.pk)
        self.turn_store = TurnStore(self.lease, self._catalog)
        self.titles = Titles(self.router, self._catalog)
        self.supervisor = Supervisor(
            self.router,
            self.worker.pk,
            Journal(workers, self.worker.pk),
            self.titles,
            self.metrics,
            lambda state: self.waiting_runs.adopt(state),
        )
        self.api_calls = ApiCalls(self.router, self.metrics)
        self.viewers = Viewers()
        self.remote_runs = RemoteRuns()
        self.pubsub = RunPubSub(self.supervisor, self.remote_runs)
        self.heartbeat = HeartbeatTask(self.worker, self.lease, workers, self.supervisor.running)
        self.waiting_runs = WaitingRuns(
            self.lease,
            self._catalog,
            self.supervisor,
            self.remote_runs,
            self.document_ranking,
            self.titles,
            self.heartbeat,
        )
        self._access_monitor = AccessMonitor(self.viewers, self.api_calls)

    @property
    def catalog(self) -> Catalog:
        """The models offered now. It may be replaced at any moment: read it once for a consistent view."""
        return self._catalog.get()

    async def start(self) -> None:
        end_idle_transactions()
        await self.pubsub.start()
        self.worker.channel = self.pubsub.channel
        await self.heartbeat.start()
        await self.catalog_watcher.start()
        await self.tool_watcher.start()
        self.supervisor.writer.start()
        self._access_monitor.start()
        self._tasks.repeat(self._do_housekeeping, HOUSEKEEPING_INTERVAL_SECONDS, "housekeeping")
        self.waiting_runs.start()
        if self.metrics:
            await self.metrics.start(self._sample)

    async def launch(self, stored: StoredTurn) -> RunState:
        """Start the run of a stored turn; if its key was sent before, follow the run started then."""
        if stored.request is None:
            return await self.follow(stored.run)
        state = RunState(RunInfo.of(stored.run))
        self.titles.expect(stored.run, stored.request)
        self.supervisor.launch(stored.run, state, stored.request)
        return state

    async def follow(self, run: Run) -> RunState:
        """Return the state that viewers of `run` share: this process's own, else a copy of what is elsewhere.

        `run` must have its message and its worker loaded.
        """
        if state := self.supervisor.states.get(run.pk):
            return state
        remote_run = self.remote_runs.get_or_create(run)
        if not remote_run.state.viewers and remote_run.state.outcome is None:
            # Subscribe before reading: text written in between then arrives as a message.
            if run.is_live and run.worker is not None:
                self.pubsub.subscribe(run.pk, run.worker.channel, remote_run.state.end)
            await self.remote_runs.refresh(remote_run)
        # Unless this process has begun to generate it meanwhile.
        return self.supervisor.states.get(run.pk) or self.remote_runs.keep(remote_run).state

    def stop(self, run: Run) -> None:
        """Stop a run at once, or ask the process that owns it. `stop_requested` is set in its row already."""
        self.remote_runs.poll_soon(run.pk)
        if not self.supervisor.stop(run.pk) and run.worker is not None:
            self.pubsub.publish_stop(run.pk, run.worker.channel)

    async def drain(self, grace: float) -> None:
        """Start nothing new, let runs and calls end within `grace` seconds, store the rest as interrupted."""
        self.draining = True
        self._sample()
        await self.waiting_runs.stop()
        await self.sends.wait(LAST_SEND_SECONDS)
        await self.titles.stop()
        await self.document_ranking.stop()
        await asyncio.gather(
            self.supervisor.wait(grace, self.force_shutdown), self.api_calls.wait(grace, self.force_shutdown)
        )
        self.viewers.close_for_shutdown(self.supervisor.is_finished)
        await self.api_calls.abort_all(SHUTDOWN_STREAM_SECONDS)
        await self.supervisor.interrupt_all()
        await self.supervisor.writer.stop()
        await self.viewers.wait_closed(SHUTDOWN_STREAM_SECONDS)
        await self.close()

    async def close(self) -> None:
        """Stop and release all parts, whether or not they were started."""
        await self._tasks.cancel()
        if self.metrics:
            await self.metrics.stop()
        await self.catalog_watcher.stop()
        await self.waiting_runs.stop()
        await self.tool_watcher.stop()
        await self._access_monitor.stop()
        await self.pubsub.stop()
        await self.heartbeat.stop()
        await self.gateway_feedback.stop()
        await self.document_ranking.stop()
        await self.readiness.stop()
        await self.client.aclose()
        if self._redis_rate_limiter:
            await self._redis_rate_limiter.aclose()
        if self.local:
            self.local.close()
        self._process_lock.release()

    def _sample(self) -> None:
        if self.metrics:
            self.metrics.sample(self)

    async def _do_housekeeping(self) -> None:
        self.worker.channel = self.pubsub.channel  # stored with the next heartbeat
        for state in {viewer.feed.state for viewer in self.viewers.open}:
            state.ping(PING_SECONDS)
        self.supervisor.drop_ended()
        await self.remote_runs.poll()


def _metrics() -> "EngineMetrics | None":
    if not metrics.is_enabled():
        return None
    from chat.engine.metrics import EngineMetrics

    try:
        return EngineMetrics(lambda model: catalog.current.get().get_known(model) is not None)
    except OSError as error:
        logger.error("this process has no metrics: %s", error.strerror)
        return None


def _redis_rate_limiter() -> "RedisRateLimiter | None":
    account = config.account()
    if not (settings.REDIS_URL and account):
        return None
    from chat.upstream.routing.redis_rate_limiter import RedisRateLimiter  # its Redis client takes 6 MB

    return RedisRateLimiter(settings.REDIS_URL, account.account_id)


_engine: Engine | None = None
_starting: asyncio.Task[Engine] | None = None


def is_begun() -> bool:
    """Return True once this process has begun to start its engine, also after it was shut down."""
    return _starting is not None


async def get_engine() -> Engine:
    """Return this process's engine; start it on first use if the server has not started it.

    One shared task starts it, because a second request at the same time must not see it half built.
    """
    global _starting
    if _engine is not None:
        return _engine
    if _starting is None or _starting.done():
        _starting = spawn(_start())
    return await asyncio.shield(_starting)


async def _start() -> Engine:
    global _engine
    engine = Engine()
    try:
        await engine.start()
    except BaseException:
        await engine.close()
        raise
    _engine = engine
    return engine


async def shut_down(grace: float) -> None:
    """Drain and discard this process's engine, if it was started."""
    global _engine
    if _engine is not None:
        await _engine.drain(grace)
        _engine = None
