"""The two steps of an import: checking the file, which makes the preview, and storing its conversations.

A step that a restart of the server interrupted is resumed.
"""

import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from django.db import Error
from django.utils import timezone

from chat.attachments.problems import ConversionUnavailable, StorageUnavailable
from chat.db import write_lock
from chat.model_catalog import catalog
from chat.models import ImportJob

from . import assistants, prompts, uploads
from .attachments import Attachments, ConvertDocument, refuse_conversion
from .formats import object_in
from .imported import ImportedAssistant, ImportedAttachment, ImportedPrompt
from .json_items import Unreadable
from .merging import merge, new_messages
from .preview import Preview, add_left_out, attachments_of
from .problems import ConversationProblem, FileProblem, PromptProblem
from .sources import objects_in
from .storing import is_known, store

MAX_CONVERSATIONS = 50_000  # in a file
BEAT_SECONDS = 2.0  # between two heartbeats, which also store the progress
MAX_CHECK_PAUSE_SECONDS = 0.25
UNSTARTED_LIFETIME = timedelta(days=1)  # lifetime of a file whose import is not started
CHECKING = ImportJob.State.CHECKING
Stop = Callable[[], bool]

logger = logging.getLogger(__name__)


class _Ended(Exception):
    """The user stopped the import, the server shuts down, or another process has taken the import over."""


def work(stop: Stop, convert: ConvertDocument = refuse_conversion) -> bool:
    """Do one step of the oldest import that this process can claim. Return False if there is none."""
    job = claim()
    if job is None:
        return False
    try:
        _Step(job, stop, convert).run()
    except _Ended:
        _release(job)
    except (ConversionUnavailable, StorageUnavailable):
        _release(job)
        raise  # an outage of the storage or the conversion: the import is resumed after it
    except FileProblem as problem:
        finish(job, ImportJob.State.REFUSED, problem=problem.code)
    except Error:
        raise  # an outage of the database: the same
    except Exception:
        logger.exception("an import failed")
        finish(job, ImportJob.State.REFUSED, problem="failed")
    return True


def _release(job: ImportJob) -> None:
    """Let another process take over at once, without waiting until the heartbeat has expired."""
    with write_lock():
        ImportJob.objects.filter(pk=job.pk, claim=job.claim).update(beat=None)


def tidy() -> None:
    """Stop imports that were not started within a day, and delete files without an open import."""
    before = timezone.now() - UNSTARTED_LIFETIME
    with write_lock():
        ImportJob.objects.filter(state=ImportJob.State.READY, created__lt=before).update(
            state=ImportJob.State.STOPPED, finished=timezone.now()
        )
    wanted = {str(key) for key in ImportJob.objects.open().values_list("pk", flat=True)}
    for path in uploads.folder().iterdir():
        with contextlib.suppress(FileNotFoundError):
            if path.name not in wanted and path.stat().st_mtime < before.timestamp():
                path.unlink()


def claim() -> ImportJob | None:
    """Claim an import whose file is in this DATA_DIR, and return it; None if there is none."""
    stored = {path.name for path in uploads.folder().iterdir()}
    for job in ImportJob.objects.claimable().select_related("user"):
        if str(job.pk) not in stored:
            continue
        mine = uuid.uuid4()
        unclaimed = ImportJob.objects.claimable().filter(pk=job.pk, claim=job.claim)
        if unclaimed.update(claim=mine, beat=timezone.now()):
            job.claim = mine
            return job
    return None


def finish(job: ImportJob, state: ImportJob.State, **columns: Any) -> bool:
    """End an import and delete its file. Return False if it has ended already or is another process's."""
    own = ImportJob.objects.filter(pk=job.pk, state=job.state, claim=job.claim)
    with write_lock():
        ended = own.update(state=state, finished=timezone.now(), beat=None, **columns)
    if ended:
        uploads.path_of(job.pk).unlink(missing_ok=True)
    return bool(ended)


class _Step:
    """One step of an import, with its heartbeat."""

    def __init__(self, job: ImportJob, stop: Stop, convert: ConvertDocument) -> None:
        self._job, self._stop = job, stop
        self._own = ImportJob.objects.filter(pk=job.pk, state=job.state, claim=job.claim)
        self._beat_at = time.monotonic()
        self._attachments = Attachments(job.user, uploads.path_of(job.pk), convert)
        self._lost: dict[str, list[str]] = {}  # what the current object goes without, by kind

    def run(self) -> None:
        try:
            with uploads.path_of(self._job.pk).open("rb") as file:
                if self._job.state == CHECKING:
                    self._check(objects_in(file, uploads.max_file_bytes()))
                else:
                    self._store_all(objects_in(file, uploads.max_file_bytes()))
        except FileNotFoundError as error:
            raise FileProblem("gone") from error
        finally:
            self._attachments.close()

    def _check(self, objects: Iterator[bytes | Unreadable]) -> None:
        """Count the file's content, and store the preview."""
        preview = Preview(self._job.user, self._attachments)
        for item in self._paced(objects):
            preview.add(item)
            self._job.processed += 1
            if self._job.processed > MAX_CONVERSATIONS:
                raise FileProblem("too_many")
        columns = {"preview": preview.as_dict(), "total": self._job.processed}
        if preview.is_empty:
            finish(self._job, ImportJob.State.REFUSED, problem=preview.problem, **columns)
            return
        with write_lock():
            self._own.update(state=ImportJob.State.READY, beat=None, processed=0, **columns)

    def _store_all(self, objects: Iterator[bytes | Unreadable]) -> None:
        """Store the conversations, continuing where the last process stopped."""
        for place, item in enumerate(self._paced(objects)):
            if place >= self._job.processed:
                self._store(item)
        finish(self._job, ImportJob.State.DONE)

    def _store(self, item: bytes | Unreadable) -> None:
        job = self._job
        try:
            found = object_in(item)
        except (ConversationProblem, PromptProblem):
            found = None
        if isinstance(found, ImportedPrompt):
            self._store_prompt(found)
            return
        if isinstance(found, ImportedAssistant):
            self._store_assistant(found)
            return
        conversation = found
        if conversation and not is_known(job.user, conversation):
            offered = catalog.catalog_for_user(catalog.current.get(), job.user)
            self._take_attachments(attachments_of(conversation.messages))
            lost = conversation.attachments + self._lost["attachment"]
            self._lost = conversation.left_out | {"attachment": lost}
            store(job.user, conversation, offered, self._confirm)
        elif conversation and (new := new_messages(job.user, conversation)).messages:
            self._take_attachments(attachments_of(new.messages))
            merge(job.user, conversation, new, self._confirm)
        else:
            job.processed += 1

    def _store_assistant(self, assistant: ImportedAssistant) -> None:
        if not assistants.is_known(self._job.user, assistant):
            self._take_attachments(assistant.files)
            assistants.store(self._job.user, assistant)
            self._note_lost()
        self._job.processed += 1

    def _store_prompt(self, prompt: ImportedPrompt) -> None:
        with contextlib.suppress(PromptProblem):
            prompts.store(self._job.user, prompts.content_of(prompt))
        self._job.processed += 1

    def _take_attachments(self, attachments: list[ImportedAttachment]) -> None:
        """Store the files of the attachments, with a heartbeat in between; note the others as lost."""
        self._attachments.begin()
        for each in attachments:
            self._attachments.store(each)
            if self._stop():
                raise _Ended
            if time.monotonic() - self._beat_at > BEAT_SECONDS:
                with write_lock():
                    self._beat()
        self._lost = {"attachment": [each.name for each in attachments if each.stored is None]}

    def _confirm(self, is_last: bool) -> None:
        """Count a stored conversation, in its transaction, which is rolled back if the import was stopped."""
        self._job.processed += is_last
        self._job.stored += is_last
        if is_last:
            self._note_lost()
        self._beat()

    def _note_lost(self) -> None:
        """Note what is left out, for the end of the import."""
        add_left_out(self._job.preview.setdefault("lost", {}), self._lost)
        self._lost = {}

    def _paced(self, objects: Iterator[bytes | Unreadable]) -> Iterator[bytes | Unreadable]:
        """Yield the objects. After each, sleep as long as it took, to leave processor time for others."""
        began = time.monotonic()
        for item in objects:
            if self._stop():
                raise _Ended
            if time.monotonic() - self._beat_at > BEAT_SECONDS:
                with write_lock():
                    self._beat()
            yield item
            time.sleep(min(time.monotonic() - began, MAX_CHECK_PAUSE_SECONDS))
            began = time.monotonic()
        with write_lock():
            self._beat()

    def _beat(self) -> None:
        """Store the heartbeat and the progress. Raises _Ended if the import is no longer this process's."""
        progress = {name: getattr(self._job, name) for name in ("processed", "stored", "preview")}
        if not self._own.filter(user__is_active=True).update(beat=timezone.now(), **progress):
            raise _Ended
        self._beat_at = time.monotonic()
