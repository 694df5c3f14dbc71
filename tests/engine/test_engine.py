"""The start and the end of an engine: neither leaves anything behind."""

import asyncio
import threading
import uuid
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from django.db import OperationalError
from django.test import AsyncRequestFactory

from chat.catalog.watcher import CatalogWatcher
from chat.conversations.turns.commands import SendMessage
from chat.db.executor import run_in_db
from chat.engine import engine as engines
from chat.models import Run, User, Worker
from chat.views.conversations import messages
from tests.engine.in_process import running_engine
from tests.fake_cloudflare.server import Fake
from tests.support.waiting import PATIENCE, becomes

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_turn_that_is_being_stored_is_launched(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server goes away after the commit and before the launch."""
    request: Any = AsyncRequestFactory().post("/c/")
    request.session = SimpleNamespace(session_key="")
    request.user = await run_in_db(User.objects.create_user, "alice")
    committed, confirmed = threading.Event(), threading.Event()
    async with running_engine(fake) as engine:
        store = engine.turn_store.store

        def slow(*args: Any, **more: Any) -> Any:
            stored = store(*args, **more)
            committed.set()
            assert confirmed.wait(PATIENCE)
            return stored

        monkeypatch.setattr(engines, "_engine", engine)
        monkeypatch.setattr(engine.turn_store, "store", slow)
        send = messages._start_run(request, lambda _: SendMessage("fake: held", uuid.uuid4()))
        sending = asyncio.create_task(send)
        await becomes(committed.is_set)
        asyncio.get_running_loop().call_later(0.2, confirmed.set)
    await sending
    assert await run_in_db(lambda: list(Run.objects.values_list("status", flat=True))) == ["interrupted"]


async def test_an_engine_that_cannot_start_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would go on as a worker whose heartbeats count, and whose lock nobody releases."""
    monkeypatch.setattr(CatalogWatcher, "start", AsyncMock(side_effect=OperationalError("away")))
    tasks = len(asyncio.all_tasks())
    with pytest.raises(OperationalError):
        await engines._start()
    assert not await run_in_db(Worker.objects.exists)
    assert len(asyncio.all_tasks()) == tasks
