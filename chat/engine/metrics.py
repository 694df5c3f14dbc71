"""Counts and times of the engine of one process. A token costs nothing: runs count at their end."""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from chat.db.background import BackgroundTasks
from chat.db.executor import DatabaseExecutor
from chat.engine.outcome import RunOutcome
from chat.models import Call, Run
from chat.models.model_request import ModelRequest
from chat.telemetry.metrics import definitions, shared_files
from chat.upstream.catalog import LlmModel
from chat.upstream.errors import UpstreamError

if TYPE_CHECKING:
    from chat.engine.engine import Engine

SAMPLE_SECONDS = 0.5


class EngineMetrics:
    """The metrics of one engine. `knows` tells whether a model's id is one of the catalog."""

    def __init__(self, knows: Callable[[str], bool]) -> None:
        shared_files.reserve()
        self._knows = knows
        self._cpu = 0.0  # seconds counted so far
        self._tasks = BackgroundTasks()
        definitions.set_build_info()
        DatabaseExecutor.on_call = on_database_call

    async def start(self, sample: Callable[[], None]) -> None:
        """Call `sample` and measure the event loop's delay, again and again."""

        async def step() -> None:
            loop = asyncio.get_running_loop()
            due = loop.time() + SAMPLE_SECONDS
            await asyncio.sleep(SAMPLE_SECONDS)
            definitions.loop_delay.observe(max(0.0, loop.time() - due))
            sample()

        sample()
        self._tasks.repeat(step, 0, "metrics")

    async def stop(self) -> None:
        DatabaseExecutor.on_call = None
        await self._tasks.cancel()

    def count_run(self, run: Run, outcome: RunOutcome, first_token: datetime | None) -> None:
        self._count(definitions.runs, run, outcome, first_token)
        if outcome.seconds is not None:
            definitions.run_duration.observe(outcome.seconds)

    def count_call(self, call: Call, outcome: RunOutcome) -> None:
        self._count(definitions.api_calls, call, outcome, call.first_token)

    def count_attempt(self, model: LlmModel, error: UpstreamError | None) -> None:
        definitions.upstream_attempts.labels(self._label(model.id), error.kind.value if error else "ok").inc()

    def _count(
        self,
        counter: "definitions.Counter",
        request: ModelRequest,
        outcome: RunOutcome,
        first_token: datetime | None,
    ) -> None:
        model = self._label(outcome.answered_by or request.model)
        counter.labels(model, outcome.status).inc()
        if first_token is not None:
            seconds = max(0.0, (first_token - request.created).total_seconds())  # the clock may be set back
            definitions.first_token.labels(model).observe(seconds)
        if usage := outcome.usage:
            definitions.tokens.labels(model, "prompt").inc(usage.prompt_tokens)
            definitions.tokens.labels(model, "completion").inc(usage.completion_tokens)
            definitions.cached_tokens.labels(model).inc(usage.cached_tokens)
            definitions.neurons.labels(model).inc(usage.neurons)

    def _label(self, model: str) -> str:
        return model if self._knows(model) else definitions.OTHER_MODEL

    def sample(self, engine: "Engine") -> None:
        limiter, router, supervisor = engine.rate_limiter, engine.router, engine.supervisor
        definitions.live_runs.set(len(supervisor.running()))
        definitions.live_api_calls.set(len(engine.api_calls.open))
        definitions.queued_requests.labels("rate_limit").set(limiter.waiting)
        definitions.queued_requests.labels("capacity").set(supervisor.queued)
        for model, is_open in self._open_breakers(router.open_breakers()).items():
            definitions.open_breakers.labels(model).set(is_open)
        definitions.open_quota_breakers.set(router.quota_breaker.is_open)
        definitions.limiter_requests.set(limiter.recent)
        definitions.limiter_maximum.set(limiter.maximum)
        definitions.limiter_lowered.set(limiter.lowered)
        definitions.viewers.set(len(engine.viewers.open))
        definitions.writers_behind.set(supervisor.writer.is_behind)
        definitions.workers.labels("serving").set(not engine.draining)
        definitions.workers.labels("draining").set(engine.draining)
        used = time.process_time()
        definitions.cpu.inc(used - self._cpu)
        self._cpu = used

    def _open_breakers(self, found: dict[str, bool]) -> dict[str, int]:
        """Return the number of open breakers by label."""
        numbers: dict[str, int] = {}
        for model, is_open in found.items():
            label = self._label(model)
            numbers[label] = numbers.get(label, 0) + is_open
        return numbers


def on_database_call(pool: str, waited: float, took: float) -> None:
    definitions.database_wait.labels(pool).observe(waited)
    definitions.database_call.labels(pool).observe(took)
