"""The storage of runs: batches of the text and outcomes that this process generates, each in one transaction.

And the reverse: what is stored of a run that another process generates, that waits, or that has ended.
"""

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from chat.db.executor import is_connection_error, write_lock
from chat.engine.outcome import RunOutcome
from chat.models import Citation, Message, Run, RunChunk, Step
from chat.models.fast_sql import update
from chat.ownership.protocol import Batch, Texts
from chat.ownership.recovery import keep_longer
from chat.search import index
from chat.wire.position import Position

from .active_run import ActiveRun

RUNS_PER_STATEMENT = 500

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class WriteResult:
    """The result of storing a batch. Runs are named by their ids.

    `outcomes` are those that the rows have, which may be another process's. `started`: the row now says that
    the run left the queue. `cited`: how many of its citations are stored. `stopped`: a stop was requested.
    `lost`: no longer a live run of this process.
    """

    outcomes: dict[uuid.UUID, RunOutcome]
    started: list[uuid.UUID]
    stopped: list[uuid.UUID]
    lost: list[uuid.UUID]
    cited: dict[uuid.UUID, int] = field(default_factory=dict)


def finish_runs(ended: Sequence[ActiveRun], worker: uuid.UUID) -> dict[uuid.UUID, RunOutcome]:
    """Store the outcomes and texts of runs, and index the texts. Return the outcomes that the rows have.

    Such an outcome is ours, or the one of a process that ended the run first: then our text is stored if it
    is longer.
    """
    outcomes = {active_run.id: _finish_run(active_run, worker) for active_run in ended}
    ours = (active_run for active_run in ended if outcomes[active_run.id] is active_run.outcome)
    index.add_replies((each.run, each.text) for each in ours if not each.is_waiting)
    return outcomes


def finish_in_savepoints(ended: Sequence[ActiveRun], worker: uuid.UUID) -> dict[uuid.UUID, RunOutcome]:
    """Store each outcome in a savepoint. If the database refuses one, store it again without its details.

    The details are all but the status, code and message: usage, gateway, duration, fallback, citations.
    """
    outcomes: dict[uuid.UUID, RunOutcome] = {}
    for active_run in ended:
        try:
            with transaction.atomic():
                outcomes |= finish_runs([active_run], worker)
        except Exception as error:
            if is_connection_error(error):
                raise
            logger.exception("the outcome of run %s is stored without its details", active_run.id)
            assert active_run.outcome is not None
            active_run.citations = ()
            active_run.outcome = RunOutcome(
                active_run.outcome.status, code=active_run.outcome.code, message=active_run.outcome.message
            )
            with transaction.atomic():
                outcomes |= finish_runs([active_run], worker)
    return outcomes


def _finish_run(active_run: ActiveRun, worker: uuid.UUID) -> RunOutcome:
    assert active_run.outcome is not None
    if active_run.is_waiting and _release(active_run, worker):
        return active_run.outcome
    has_chunks = bool(active_run.batched_text or active_run.batched_reasoning)
    text, reasoning = active_run.text, active_run.reasoning
    columns = active_run.outcome_columns()
    assert columns is not None
    if active_run.run.finish(text, reasoning, columns, worker=worker, has_chunks=has_chunks):
        _store_citations(active_run)
        return active_run.outcome
    keep_longer(active_run.id, Texts(text, reasoning))
    theirs = Run.objects.filter(pk=active_run.id).first()
    return RunOutcome.from_run(theirs) if theirs else RunOutcome(Run.Status.INTERRUPTED)


def _release(active_run: ActiveRun, worker: uuid.UUID) -> bool:
    """Let a run wait, without an owner; its text stays in chunks. Return False if it has to end instead.

    That is where a stop was requested meanwhile, and where the run is not live any more. It may be repeated.
    """
    assert active_run.outcome is not None
    # Locked, so that a stop is either seen here, or sees that the run waits.
    row = Run.objects.select_for_update(of=("self",)).filter(pk=active_run.id).first()
    if row is None or not row.is_live or row.stop_requested:
        active_run.outcome = replace(active_run.outcome, status=Run.Status.STOPPED)
        return False
    if row.worker_id == worker and row.status != Run.Status.WAITING:
        RunChunk.objects.bulk_create(active_run.unbatched())
        _store_citations(active_run)
        update(Run, active_run.release_columns(), id=row.pk)
    return True  # also if the confirmation of an earlier attempt was lost


def save_batch(batch: Batch[ActiveRun], worker: uuid.UUID) -> WriteResult:
    """Store a batch. If the database refuses a row, store the outcomes one by one, to save the others."""
    try:
        return save(batch, worker)
    except Exception as error:
        if is_connection_error(error):
            raise  # an outage, not a refused row
        logger.exception("a batch was refused; its outcomes are stored one by one")
        return save(batch, worker, finish_in_savepoints)


def save(
    batch: Batch[ActiveRun],
    worker: uuid.UUID,
    finish: Callable[[Sequence[ActiveRun], uuid.UUID], dict[uuid.UUID, RunOutcome]] = finish_runs,
) -> WriteResult:
    """Write a batch in one transaction, and read the state of this process's rows.

    Text of a run that this process no longer owns (recovered, or deleted with its user) is left out.
    """
    with write_lock(), transaction.atomic():
        rows = _live_rows(worker) if batch.live else {}
        started = [active_run.id for active_run in batch.live if active_run.started and active_run.id in rows]
        if started:
            queued = Run.objects.filter(pk__in=started, status=Run.Status.QUEUED, worker_id=worker)
            began = Coalesce("started", Value(timezone.now()))  # one that waited for the person began before
            queued.update(status=Run.Status.RUNNING, started=began)
        # A commit whose confirmation was lost is repeated with the same rows, which then exist already.
        if chunks := [
            RunChunk(run_id=chunk.run, kind=chunk.kind, start=chunk.start, text=chunk.text)
            for chunk in batch.chunks
            if chunk.run in rows
        ]:
            RunChunk.objects.bulk_create(chunks, ignore_conflicts=True)
        cited = {each.id: _store_citations(each) for each in batch.live if each.id in rows}
        outcomes = finish(batch.ended, worker)
    return WriteResult(
        outcomes,
        started,
        cited={run: number for run, number in cited.items() if number},
        stopped=[active_run.id for active_run in batch.live if rows.get(active_run.id)],
        lost=[active_run.id for active_run in batch.live if active_run.id not in rows],
    )


def _store_citations(active_run: ActiveRun) -> int:
    """Store the citations of a run, unless they are stored. Return how many; 0 if none was new."""
    if not (citations := active_run.unstored_citations):
        return 0
    Citation.objects.add(active_run.run.message_id, citations)
    Run.objects.filter(pk=active_run.id).update(cited=active_run.run.cited + len(citations))
    return len(citations)


def _live_rows(worker: uuid.UUID) -> dict[Any, bool]:
    """Return {id: stop requested} of this process's live runs."""
    return dict(Run.objects.owned().filter(worker_id=worker).values_list("pk", "stop_requested"))


@dataclass(frozen=True, slots=True)
class Found:
    """The steps of a run, those of the runs that it continues, and the number of sources that they found."""

    steps: Sequence[Step] = ()
    earlier_steps: Sequence[Step] = ()
    sources: int = 0


NOTHING = Found()


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """The stored text of a run from `at` on; if the run has ended, its whole text and its outcome.

    `owner` is the channel of the process that generates it; "" for none. `waited` as of `RemoteRun`.
    """

    at: Position
    text: str
    reasoning: str
    outcome: RunOutcome | None
    found: Found = NOTHING
    owner: str = ""
    waited: float | None = None


def load_snapshot(run: uuid.UUID, at: Position) -> RunSnapshot:
    """Read the stored state of a run. A run that was deleted with its conversation counts as interrupted.

    The row is read before and after the chunks, because a run that ends in between has its chunks deleted.
    """
    row = Run.objects.select_related("worker").filter(pk=run).first()
    if row is not None and row.is_live:
        text, reasoning = RunChunk.objects.texts(run, at.text, at.reasoning)
        found = _found(row)
        if Run.objects.live().filter(pk=run).exists():
            owner = row.worker.channel if row.worker else ""
            waited = row.waited_seconds if row.status == Run.Status.WAITING else None
            return RunSnapshot(at, text, reasoning, None, found, owner, waited)
        row = Run.objects.filter(pk=run).first()
    try:
        if row is not None:
            return RunSnapshot(Position(), *row.texts(), RunOutcome.from_run(row), _found(row))
    except Message.DoesNotExist:  # its conversation was deleted since the row was read
        pass
    return RunSnapshot(Position(), "", "", RunOutcome(Run.Status.INTERRUPTED))


def _found(run: Run) -> Found:
    if not (run.tools or run.cited):
        return NOTHING
    cited = Citation.objects.filter(message=run.message_id)
    steps = Step.objects.of_messages([run.message_id]).get(run.message_id, []) if run.tools else []
    return Found(
        [step for step in steps if step.run_id == run.pk],
        [step for step in steps if step.run_id != run.pk and step.created <= run.created],
        len({each.source for each in cited}),
    )


def still_waiting(waited: Mapping[uuid.UUID, float]) -> set[uuid.UUID]:
    """Return the runs that wait as they did when these seconds of theirs were read: each claim adds some."""
    found, runs = set(), list(waited)
    for start in range(0, len(runs), RUNS_PER_STATEMENT):
        rows = Run.objects.filter(pk__in=runs[start : start + RUNS_PER_STATEMENT], status=Run.Status.WAITING)
        found |= {run for run, seconds in rows.values_list("pk", "waited_seconds") if seconds == waited[run]}
    return found
