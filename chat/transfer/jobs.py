"""The imports that wait for work: which one a process takes up, holds, gives back and ends."""

import contextlib
import math
import time
import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q
from django.db.models.functions import Greatest
from django.utils import timezone

from chat.db.batches import Stop
from chat.db.executor import write_lock
from chat.models import ImportJob
from chat.models.import_job import ABANDONED_AFTER

from . import import_files

BEAT_SECONDS = 1.0  # between two heartbeats, which also store the progress and notice a stop
MAX_ATTEMPTS = 2
TURN_SECONDS = 10.0  # for one import while others wait
UNSTARTED_LIFETIME = timedelta(days=1)  # lifetime of a file whose import is not started


class Ended(Exception):
    """The user stopped the import, the server shuts down, or another process has taken the import over."""


class TurnOver(Exception):
    """The import has had its turn, and others wait."""


def tidy() -> None:
    """Stop imports that nobody started within a day, or now may, and delete files without an open import."""
    before = timezone.now() - UNSTARTED_LIFETIME
    old = ImportJob.objects.open().filter(created__lt=before)
    left = Q(state=ImportJob.State.READY) | Q(user__is_active=False) if settings.IMPORT_MAX_MB else Q()
    with write_lock():
        old.filter(left).update(state=ImportJob.State.STOPPED, finished=timezone.now())
    wanted = {str(key) for key in ImportJob.objects.open().values_list("pk", flat=True)}
    for path in import_files.folder().iterdir():
        with contextlib.suppress(FileNotFoundError):
            if path.name not in wanted and path.stat().st_mtime < before.timestamp():
                path.unlink()


def claim(most_bytes: int | None = None) -> ImportJob | None:
    """Claim an import whose file is in this DATA_DIR, and return it; None if there is none.

    `most_bytes`: of the file. One whose processes have died MAX_ATTEMPTS times is refused.
    """
    stored = {path.name for path in import_files.folder().iterdir()}
    for job in ImportJob.objects.claimable().select_related("user"):
        if str(job.pk) not in stored or (most_bytes is not None and job.size > most_bytes):
            continue
        if job.attempts >= MAX_ATTEMPTS:
            finish(job, ImportJob.State.REFUSED, problem="stuck")
            continue
        mine = uuid.uuid4()
        unclaimed = ImportJob.objects.claimable().filter(pk=job.pk, claim=job.claim)
        if unclaimed.update(claim=mine, beat=timezone.now(), attempts=F("attempts") + 1):
            job.claim = mine
            return job
    return None


def finish(job: ImportJob, state: ImportJob.State, **columns: Any) -> bool:
    """End an import and delete its file. Return False if it has ended already or is another process's."""
    own = ImportJob.objects.open().filter(pk=job.pk, state=job.state, claim=job.claim)
    with write_lock():
        ended = own.update(state=state, finished=timezone.now(), beat=None, **columns)
    if ended:
        import_files.path_of(job.pk).unlink(missing_ok=True)
    return bool(ended)


class Hold:
    """A process's hold on the import that it has claimed."""

    def __init__(self, job: ImportJob, stop: Stop) -> None:
        self._job, self._stop = job, stop
        self._own = ImportJob.objects.filter(pk=job.pk, state=job.state, claim=job.claim)
        self._beaten = time.monotonic()
        self._turn_ends = math.inf

    def beat(self, is_due: bool = False) -> None:
        """Renew the hold if it is time or due. To be called at least every BEAT_SECONDS. Raises Ended."""
        if self._stop():
            raise Ended
        if is_due or time.monotonic() - self._beaten >= BEAT_SECONDS:
            with write_lock():
                self.renew()

    def beat_or_give_way(self) -> None:
        """Renew the hold, or raise TurnOver. To be called where the import can go on later. Raises Ended.

        The turn begins with the first call, before which something new was done: so every turn gets on.
        """
        self.beat()
        now = time.monotonic()
        self._turn_ends = min(self._turn_ends, now + TURN_SECONDS)
        if now >= self._turn_ends:
            if ImportJob.objects.claimable().exclude(pk=self._job.pk).exists():
                raise TurnOver
            self._turn_ends = math.inf

    def renew(self, **columns: Any) -> None:
        """Store the heartbeat and the progress. Raises Ended if the import is no longer this process's."""
        columns = {"beat": timezone.now(), **columns}
        columns |= {name: getattr(self._job, name) for name in ("processed", "stored", "preview")}
        if not self._own.filter(user__is_active=True).update(**columns):
            raise Ended
        self._beaten = time.monotonic()

    def end_check(self, **columns: Any) -> None:
        """Store what the check has found. The import then waits until the person starts it."""
        with write_lock():
            self._own.update(state=ImportJob.State.READY, beat=None, attempts=0, **columns)

    def give_way(self) -> None:
        """Store the progress, and let a process take the import up after those that wait. Raises Ended."""
        with write_lock():
            self.renew(attempts=0, beat=timezone.now() - ABANDONED_AFTER)

    def release(self, attempts: int = 1) -> None:
        """Let a process take the import up at once. `attempts`: 0 if this one failed, and counts."""
        with write_lock():
            own = ImportJob.objects.filter(pk=self._job.pk, claim=self._job.claim)
            own.update(beat=None, attempts=Greatest(F("attempts") - attempts, 0))
