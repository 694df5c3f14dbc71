"""The background task that runs imports."""

import asyncio
import logging
from typing import IO, NoReturn

import pytest
from django.db import OperationalError

from chat.attachments.extraction import NeedsConversion
from chat.transfer import worker
from tests.support.waiting import becomes


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

    caplog.set_level(logging.INFO, "chat.background")
    monkeypatch.setattr(worker, "_work", search)
    monkeypatch.setattr(worker, "MOST_BYTES", [None])
    monkeypatch.setattr(worker, "tidy", lambda: None)
    monkeypatch.setattr(worker, "IMPORT_POLL_SECONDS", 0.001)
    task = asyncio.create_task(worker.work_on_imports(refuse))
    await becomes(lambda: searches >= 6)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    logged = [record.message for record in caplog.records if record.name == "chat.background"]
    assert logged == ["import failed: OperationalError", "import works again after 3 failures"]
