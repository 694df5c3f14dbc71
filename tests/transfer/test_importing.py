"""The background task that runs imports."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from typing import IO, NoReturn

import pytest
from django.db import OperationalError

from chat.db.executor import DatabaseExecutor
from chat.files.extraction import NeedsConversion
from chat.models import ImportJob, User
from chat.transfer import importing, jobs
from tests.support.waiting import becomes
from tests.transfer.importing import uploaded

LARGE = 100_000_000


async def refuse(person: int, file: IO[bytes], needed: NeedsConversion) -> NoReturn:
    raise needed


async def test_an_outage_of_the_database_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    searches = 0

    def search(stop: object, convert: object, most_bytes: object) -> bool:
        nonlocal searches
        searches += 1
        if searches <= 3:
            raise OperationalError("away")
        return False

    caplog.set_level(logging.INFO, "chat.db.background")
    monkeypatch.setattr(importing, "_claim_and_work", search)
    monkeypatch.setattr(importing, "MOST_BYTES", [None])
    monkeypatch.setattr(importing, "tidy", lambda: None)
    monkeypatch.setattr(importing, "IMPORT_POLL_SECONDS", 0.001)
    task = asyncio.create_task(importing.work_on_imports(refuse))
    await becomes(lambda: searches >= 6)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    logged = [record.message for record in caplog.records if record.name == "chat.db.background"]
    assert logged == ["import failed: OperationalError", "import works again after 3 failures"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("folder")
async def test_large_files_of_several_people_hold_up_no_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large ones take two threads at most, each person's in one."""
    working: list[str] = []
    go_on = threading.Event()

    def work(job: ImportJob, stop: object, convert: object) -> None:
        working.append(job.user.username)
        if job.size > LARGE - 1:
            go_on.wait()
        jobs.finish(job, ImportJob.State.DONE)

    def begin(name: str, size: int) -> None:
        job = uploaded(User.objects.create_user(name), [])
        ImportJob.objects.filter(pk=job.pk).update(size=size)

    monkeypatch.setattr(importing, "work", work)
    monkeypatch.setattr(importing, "IMPORT_POLL_SECONDS", 0.01)
    thread = DatabaseExecutor("test")
    for name in ("ann", "ben", "cat"):
        await thread(begin, name, LARGE)
    task = asyncio.create_task(importing.work_on_imports(refuse))
    await becomes(lambda: len(working) == 2)
    await thread(begin, "dan", 1)
    importing.wake()
    await becomes(lambda: set(working) == {"ann", "ben", "dan"})
    go_on.set()
    await becomes(lambda: len(working) == 4)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await thread.aclose(5)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("folder")
async def test_a_server_that_ends_hands_its_import_back(monkeypatch: pytest.MonkeyPatch) -> None:
    began = threading.Event()

    def endless(file: object, beat: Callable[[], object], keep: object) -> Iterator[None]:
        began.set()
        while True:
            beat()
        yield

    def begin() -> ImportJob:
        return uploaded(User.objects.create_user("ann"), [])

    monkeypatch.setattr(importing, "objects", endless)
    thread = DatabaseExecutor("test")
    job = await thread(begin)
    task = asyncio.create_task(importing.work_on_imports(refuse))
    await becomes(began.is_set)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await thread(job.refresh_from_db)
    assert (job.state, job.beat, job.attempts) == (ImportJob.State.CHECKING, None, 0)
    assert job.claim is not None
    await thread.aclose(5)
