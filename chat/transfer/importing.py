"""The background task that runs imports: a few at a time in each process, each in a thread of its own.

A phase is the check of a file, which makes the preview, or the storing of its conversations. One that was
interrupted is resumed: the check from the beginning, the storing where it was.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import closing, suppress
from functools import partial
from typing import IO, Any

from django.conf import settings
from django.db import Error

from chat.catalog import catalog
from chat.db.background import FailureLog
from chat.db.batches import Stop
from chat.db.executor import DatabaseExecutor
from chat.exceptions import RequestError
from chat.files.confinement import Crashed, Expired, TooMuchOutput
from chat.files.extraction import Extracted, NeedsConversion
from chat.files.problems import ConversionUnavailable, StorageUnavailable, UnconfinedFiles
from chat.library import memory
from chat.models import ImportJob

from . import import_files, library, records
from .attachments import Attachments, ConvertDocument, OutOfTime
from .jobs import Ended, Hold, TurnOver, claim, finish, tidy
from .merging import merge, new_messages
from .preview import Preview, add_left_out, attachments_of
from .problems import FileProblem, PromptProblem
from .reader import Untrusted, objects
from .storing import is_known, store_conversation

IMPORT_POLL_SECONDS = 5.0  # between two searches for imports, such as those of a process that died
TIDY_SECONDS = 3_600.0
# The largest file that each thread takes. Large ones last for minutes, and others need not wait for them.
MOST_BYTES = (None, None, 8 * 1_048_576)
AsyncConvert = Callable[[int, IO[bytes], NeedsConversion], Coroutine[Any, Any, Extracted]]
MAX_CONVERSATIONS = 50_000  # in a file
State = ImportJob.State

logger = logging.getLogger(__name__)

_wake: list[asyncio.Event] = []  # of each thread


async def work_on_imports(convert: AsyncConvert) -> None:
    """Run imports, if people may import, and delete old files, until cancelled, which gives imports back."""
    stopping, loop = threading.Event(), asyncio.get_running_loop()

    def convert_here(person: int, file: IO[bytes], needed: NeedsConversion) -> Future[Extracted]:
        return asyncio.run_coroutine_threadsafe(convert(person, file, needed), loop)

    threads = [DatabaseExecutor("db-import") for _ in MOST_BYTES]
    _wake[:] = [asyncio.Event() for _ in MOST_BYTES]
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_tidy_often(threads[0]))
            for thread, woken, most_bytes in zip(threads, _wake, MOST_BYTES, strict=True):
                one_phase = partial(thread, _claim_and_work, stopping.is_set, convert_here, most_bytes)
                if settings.IMPORT_MAX_MB:
                    tasks.create_task(_work_while_any(one_phase, woken))
    finally:
        stopping.set()
        for thread in threads:
            await loop.run_in_executor(None, thread.close)


def _claim_and_work(stop: Stop, convert: ConvertDocument, most_bytes: int | None) -> bool:
    """Do one phase of the next import that this thread may claim. Return False if there is none."""
    job = claim(most_bytes)
    if job:
        work(job, stop, convert)
    return job is not None


async def _tidy_often(thread: DatabaseExecutor) -> None:
    log = FailureLog("tidying of imports")
    while True:
        await log.watch(thread(tidy))
        await asyncio.sleep(TIDY_SECONDS)


async def _work_while_any(one_phase: Callable[[], Awaitable[bool]], woken: asyncio.Event) -> None:
    async def every() -> None:
        while await one_phase():
            pass

    log = FailureLog("import")
    while True:
        await log.watch(every())
        woken.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(woken.wait(), IMPORT_POLL_SECONDS)


def wake() -> None:
    """Make this process look for imports now. To be called on its event loop."""
    for event in _wake:
        event.set()


def work(job: ImportJob, stop: Stop, convert: ConvertDocument) -> None:
    """Do one phase of an import that this process has claimed."""
    hold = Hold(job, stop)
    try:
        _run(job, hold, convert)
    except Ended:
        hold.release()
    except (ConversionUnavailable, StorageUnavailable):
        hold.release()
        raise  # an outage of the storage or the conversion: the import is resumed after it
    except FileProblem as problem:
        finish(job, State.REFUSED, problem=problem.code, preview=job.preview)
    except FileNotFoundError:
        finish(job, State.REFUSED, problem="gone")
    except UnconfinedFiles:
        finish(job, State.REFUSED, problem="unconfined")
    except Expired:
        finish(job, State.REFUSED, problem="slow")
    except (Crashed, TooMuchOutput, Untrusted) as error:
        logger.warning("the reader of an imported file failed: %s %s", type(error).__name__, error)
        hold.release(attempts=0)
    except Error:
        raise  # an outage of the database: it is taken over later, and counts as an attempt
    except Exception:
        logger.exception("an import failed")
        finish(job, State.REFUSED, problem="failed")


def _run(job: ImportJob, hold: Hold, convert: ConvertDocument) -> None:
    path = import_files.path_of(job.pk)
    with path.open("rb") as file, closing(Attachments(job.user, path, hold.beat, convert)) as attachments:
        if job.state == State.CHECKING:
            _check(job, hold, file, attachments)
        else:
            attachments.resume(job.preview.pop("read", {}))
            try:
                _Storing(job, hold, attachments).run(file)
            except TurnOver:
                job.preview["read"] = attachments.read
                hold.give_way()


def _check(job: ImportJob, hold: Hold, file: IO[bytes], attachments: Attachments) -> None:
    """Count the file's content, and store the preview."""
    preview = Preview(job.user, attachments)
    job.processed = 0
    try:
        for found in objects(file, hold.beat, attachments.keep):
            preview.add(found)
            job.processed += 1
            if job.processed > MAX_CONVERSATIONS:
                raise FileProblem("too_many")
            hold.beat()
    except FileProblem:
        job.preview = preview.as_dict()  # what the file has is named nevertheless
        raise
    columns = {"preview": preview.as_dict(), "total": job.processed}
    if preview.is_empty:
        finish(job, State.REFUSED, problem=preview.problem, **columns)
    else:
        hold.end_check(processed=0, **columns)


class _Storing:
    def __init__(self, job: ImportJob, hold: Hold, attachments: Attachments) -> None:
        self._job, self._hold, self._attachments = job, hold, attachments
        self._left_out: records.LeftOut = {}  # of the current object

    def run(self, file: IO[bytes]) -> None:
        """Store the objects, continuing where the last process stopped."""
        most = settings.ATTACHMENT_MAX_BYTES if settings.ATTACHMENTS else 0
        keep = self._attachments.keep
        for found in objects(file, self._hold.beat, keep, skip=self._job.processed, content_bytes=most):
            self._store(found)
            self._attachments.forget()
            self._hold.beat_or_give_way()
        finish(self._job, State.DONE, **{name: getattr(self._job, name) for name in ("processed", "preview")})

    def _store(self, found: records.Imported | records.Refusal) -> None:
        user = self._job.user
        if isinstance(found, records.ImportedConversation) and not is_known(user, found):
            self._store_files(attachments_of(found.messages), found.left_out)
            store_conversation(
                user, found, catalog.catalog_for_user(catalog.current.get(), user), self._confirm
            )
        elif isinstance(found, records.ImportedConversation) and (new := new_messages(user, found)):
            self._store_files(attachments_of(new), {})
            merge(user, found, new, self._confirm)
        elif isinstance(found, records.ImportedAssistant) and not library.is_known(user, found):
            self._store_files(found.files, {})
            if not library.store_assistant(user, found):
                self._left_out.setdefault("other", []).append(found.versions[-1].name)
                self._job.preview["assistants"] -= 1
            self._done()
        else:
            if isinstance(found, records.ImportedPrompt):
                with suppress(PromptProblem):
                    library.store_prompt(user, library.prompt_content(found))
            elif isinstance(found, records.ImportedMemory):
                with suppress(RequestError):  # at the limit
                    memory.remember(user, found.fact, found.created)
            elif isinstance(found, records.OtherFiles):
                self._left_out = {"file": found.names}
            self._done()
        self._hold.beat(is_due=self._job.processed == 1)  # a stop tells whether anything was stored

    def _store_files(self, attachments: list[records.ImportedAttachment], left_out: records.LeftOut) -> None:
        """Store the files of the attachments; add the others to what is `left_out` of the object."""
        for each in attachments:
            kind, is_new = "attachment", False
            try:
                is_new = self._attachments.store(each)
            except OutOfTime:
                kind = "unread"
            if each.stored is None:
                left_out.setdefault(kind, []).append(each.name)
            self._hold.beat_or_give_way() if is_new else self._hold.beat()
        self._left_out = left_out

    def _confirm(self, is_last: bool) -> None:
        """Count a stored conversation, in its transaction, which is rolled back if the import was stopped."""
        if is_last:
            self._job.stored += 1
            self._done()
        self._hold.renew(attempts=1)  # it has got on: the file is not what ends processes

    def _done(self) -> None:
        """Count an object that was dealt with, and what was left out of it."""
        self._job.processed += 1
        add_left_out(self._job.preview.setdefault("lost", {}), self._left_out)
        self._left_out = {}
