"""The database side of ownership: heartbeats, fencing, stops, and the end of runs without a process.

Every function may be repeated, and may run in several processes at once. The rules are in `protocol`.
"""

import logging
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import cast

from django.db import transaction
from django.db.models import F, Max
from django.db.models.functions import Now
from django.utils import timezone

from chat.db.executor import is_connection_error, write_lock
from chat.models import Call, Citation, Conversation, Message, Run, RunChunk, Step, Worker
from chat.models.run import RunOutcomeColumns, RunQuerySet
from chat.search import index

from . import journal
from .protocol import Heartbeat, Merge, Texts, merge

KEEP_WORKERS = timedelta(days=1)  # age at which a dead worker's row, kept for inspection, is deleted
RECOVERED_FINGERPRINT = "recovered"  # the fingerprint of a version that recovery made; no request has it

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HeartbeatRows:
    """The rows read with a heartbeat: all workers, the owners of live runs or calls, our own live runs."""

    workers: dict[uuid.UUID, Heartbeat]
    owners: set[uuid.UUID]
    own_runs: set[uuid.UUID]


def heartbeat(worker: Worker, epoch: int) -> HeartbeatRows:
    """Count a heartbeat and read all rows. If our row was removed, insert it again with the next epoch."""
    with write_lock(), transaction.atomic():
        changes = {"heartbeats": F("heartbeats") + 1, "heartbeat_at": Now(), "channel": worker.channel}
        if not Worker.objects.filter(pk=worker.pk).update(**changes):
            started = worker._state.adding
            Worker.objects.create(
                id=worker.pk,
                channel=worker.channel,
                host=worker.host,
                pid=worker.pid,
                epoch=epoch if started else epoch + 1,
            )
            worker._state.adding = False
        rows = Worker.objects.values_list("pk", "epoch", "heartbeats")
        owners = set(Call.objects.live().values_list("worker_id", flat=True).distinct())
        runs = dict(Run.objects.owned().values_list("pk", "worker_id"))
    return HeartbeatRows(
        {pk: Heartbeat(epoch, number) for pk, epoch, number in rows},
        owners | set(runs.values()),
        {run for run, owner in runs.items() if owner == worker.pk},
    )


def unregister(worker: uuid.UUID) -> None:
    """Remove the worker's row, unless it has live runs or calls left: they have to be recovered first."""
    left = Run.objects.owned().filter(worker_id=worker), Call.objects.live().filter(worker_id=worker)
    if not any(each.exists() for each in left):
        Worker.objects.filter(pk=worker).delete()


def recover(
    folder: Path,
    worker: uuid.UUID,
    fences: Iterable[tuple[uuid.UUID, Heartbeat]],
    abandoned: Collection[uuid.UUID],
) -> None:
    """Fence dead workers and end their runs and calls, with the text they left.

    `abandoned`: our own live runs that have no task.
    """
    for dead, observed in fences:
        fence(dead, observed)
    for dead in journal.left_behind(folder, worker):
        _replay(folder, dead)
    for run in [*Run.objects.orphaned(), *Run.objects.owned().filter(pk__in=abandoned, worker_id=worker)]:
        try:
            interrupt(run)
        except Exception as error:
            if is_connection_error(error):
                raise
            logger.exception("run %s could not be ended", run.pk)  # the others are still recovered
    Call.objects.orphaned().update(status=Call.Status.INTERRUPTED, finished=Now(), worker=None)
    _forget_old_workers(folder, worker)


def fence(worker: uuid.UUID, observed: Heartbeat) -> bool:
    """Increment a dead worker's epoch, so that its runs become orphans, unless its row has changed since.

    Return True if it was done.
    """
    unchanged = Worker.objects.filter(pk=worker, epoch=observed.epoch, heartbeats=observed.number)
    fenced = bool(unchanged.update(epoch=F("epoch") + 1))
    if fenced:
        logger.warning("worker %s is dead; its replies end as interrupted", worker)
    return fenced


def interrupt(run: Run) -> None:
    """End a live run as interrupted, with the stored text; one that has only been claimed waits again."""
    if _waits_again(run):
        logger.warning("run %s was left by its process before it went on, and waits again", run.pk)
    elif run.worker_id and end_run(run, {"status": Run.Status.INTERRUPTED}):
        logger.warning("run %s was left by its process and ends as interrupted", run.pk)


def _waits_again(run: Run) -> bool:
    """Let a run wait again whose owner has claimed it, and has not begun with the calls of its last round.

    Return whether it does.
    """
    if run.suspended is None or run.worker_id is None:
        return False
    with write_lock(), transaction.atomic():
        owned = Run.objects.owned().filter(pk=run.pk, worker_id=run.worker_id, stop_requested=False)
        if not owned.select_for_update(of=("self",)).exists():
            return False
        steps = Step.objects.filter(run=run)
        answered = steps.filter(turn=steps.aggregate(last=Max("turn"))["last"]).exclude(answer="")
        if set(answered.values_list("state", flat=True)) != {Step.State.WAITING}:
            return False
        answered.update(created=Now())  # the seconds before are counted
        return bool(owned.update(status=Run.Status.WAITING, worker=None))


def end_run(run: Run, outcome: RunOutcomeColumns) -> bool:
    """End a live run that its owner has left, or that waits, with the stored text. Return whether it did."""
    with write_lock():
        return end_in_transaction(run, outcome)


@transaction.atomic
def end_in_transaction(run: Run, outcome: RunOutcomeColumns) -> bool:
    """Do what `end_run` does, for a caller who holds the write lock."""
    # Lock the row, and so wait for a concurrent insert of chunks, whose foreign keys lock it too.
    Run.objects.select_for_update(of=("self",)).filter(pk=run.pk).first()
    text, reasoning = RunChunk.objects.texts(run.pk)
    ended = run.finish(text, reasoning, outcome, worker=run.worker_id)
    if ended:
        index.add_replies([(run, text)])
    return ended


def request_stop(runs: RunQuerySet) -> list[Run]:
    """Have live runs stopped: those that wait end now, the others by their owner. Return the live ones.

    The caller holds the write lock and a transaction, and tells the engine of each.
    """
    runs = runs.live()
    if not (found := list(runs.select_related("worker", "message"))):
        return []
    runs.update(stop_requested=True)
    for run in runs.filter(status=Run.Status.WAITING):
        end_in_transaction(run, {"status": Run.Status.STOPPED})
    return found


def keep_longer(run: uuid.UUID, ours: Texts) -> None:
    """Store `ours`, the text of a run that another process has ended, if it is longer.

    Call it in a transaction.
    """
    found = Run.objects.filter(pk=run).first()
    if found is None or found.is_live:
        return
    # Lock as a continuation does: otherwise one might begin after the text that is extended below.
    Conversation.objects.select_for_update(no_key=True).filter(pk=found.conversation_id).first()
    # A continuation that was planned before, without a lock, must see the longer text.
    Conversation.objects.filter(pk=found.conversation_id).change()
    message = Message.objects.select_for_update(no_key=True).get(pk=found.message_id)
    found = Run.objects.get(pk=run)
    found.message = message
    RunChunk.objects.filter(run_id=run).delete()  # written after the run had ended
    match merge(Texts(*found.texts()), ours, is_last=_is_last(found)):
        case Merge.EXTEND:
            former = message.text
            message.text = message.text[: found.text_offset] + ours.text
            message.reasoning = message.reasoning[: found.reasoning_offset] + ours.reasoning
            message.save(update_fields=["text", "reasoning"])
            index.change(former, index.message_of(message, found.user_id))
            found.text_length, found.reasoning_length = map(len, ours)
            found.save(update_fields=["text_length", "reasoning_length"])
        case Merge.SEPARATE:
            _store_version(found, message, ours)


def _is_last(run: Run) -> bool:
    """Return True if no other run has begun to continue the message after this run's text."""
    later = {
        "text_offset__gte": run.text_offset + run.text_length,
        "reasoning_offset__gte": run.reasoning_offset + run.reasoning_length,
    }
    return not Run.objects.filter(message=run.message_id, **later).exclude(pk=run.pk).exists()


def _store_version(run: Run, message: Message, ours: Texts) -> None:
    """Add a version of the reply that ends with the owner's text, unless a version has all of it."""
    text = message.text[: run.text_offset] + ours.text
    reasoning = message.reasoning[: run.reasoning_offset] + ours.reasoning
    versions = Message.objects.filter(parent=message.parent_id, role=message.role)
    if any(theirs.text.startswith(text) and theirs.reasoning.startswith(reasoning) for theirs in versions):
        return
    version = Message.objects.create(
        conversation_id=message.conversation_id,
        parent_id=message.parent_id,
        role=message.role,
        text=text,
        reasoning=reasoning,
        model=message.model,
    )
    index.add([index.message_of(version, run.user_id)])
    Run.objects.create(
        user_id=run.user_id,
        conversation_id=run.conversation_id,
        message=version,
        fingerprint=RECOVERED_FINGERPRINT,
        model=run.model,
        max_tokens=run.max_tokens,
        parameters=run.parameters,
        status=run.status,
        text_length=len(text),
        reasoning_length=len(reasoning),
        started=run.started,
        finished=run.finished or timezone.now(),
    )


def _replay(folder: Path, worker: uuid.UUID) -> None:
    """Store the text, outcomes and citations that a dead process could write only into its journal."""
    try:
        for run, remains in journal.read(folder, worker).items():
            with write_lock(), transaction.atomic():
                _store_remains(run, worker, remains)
    except Exception as error:
        if is_connection_error(error):
            raise  # try again at the next heartbeat
        path = journal.set_aside(folder, worker)
        logger.exception("the journal of a dead process could not be stored; it is kept as %s", path)
    else:
        journal.remove(folder, worker)


def _store_remains(run: uuid.UUID, worker: uuid.UUID, remains: journal.Remains) -> None:
    found = Run.objects.select_related("message").filter(pk=run).first()
    if found is None:
        return
    ours = remains.appended_to(Texts(*found.texts()))
    outcome = cast("RunOutcomeColumns", remains.outcome or {"status": Run.Status.INTERRUPTED})
    if found.finish(*ours, outcome, worker=worker):
        index.add_replies([(found, ours.text)])
    else:
        keep_longer(run, ours)
    if remains.citations:
        Citation.objects.add(found.message_id, remains.citations)
        Run.objects.filter(pk=run).update(cited=len(remains.citations))


def _forget_old_workers(folder: Path, worker: uuid.UUID) -> None:
    old = Worker.objects.filter(heartbeat_at__lt=Now() - KEEP_WORKERS).exclude(pk=worker)
    for dead in list(old.values_list("pk", flat=True)):
        journal.remove_lock(folder, dead)
        unregister(dead)
