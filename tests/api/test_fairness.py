"""Many calls of one key hold up neither the calls of others nor their ends."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.test import AsyncClient

from chat.api import calls as asking
from chat.db import THREADS, run_in_db
from chat.engine.engine import Engine
from chat.engine.generation import api_calls
from chat.engine.generation.api_calls import SHARE
from chat.models import ApiKey, Call, User
from tests.api.client import CHAT, question
from tests.api.in_process import engine
from tests.support.server import PATIENCE
from tests.support.waiting import becomes

__all__ = ["engine"]
pytestmark = pytest.mark.django_db(transaction=True)
MANY = 3 * THREADS


def bearer(name: str) -> dict[str, str]:
    key = ApiKey(user=User.objects.create_user(name, f"{name}@example.org"), name="a program")
    secret = key.generate_secret()
    key.save()
    return {"Authorization": f"Bearer {secret}"}


async def ask(headers: dict[str, str]) -> Any:
    return await AsyncClient().post(CHAT, question("hello"), "application/json", headers=headers)


class Gate:
    """Wraps a function, in which each call that `holds` waits until the gate is opened."""

    def __init__(self, function: Callable[..., Any], holds: Callable[..., bool]) -> None:
        self._function, self._holds = function, holds
        self._opened = threading.Event()
        self.waiting = 0

    def __call__(self, *args: Any) -> Any:
        if self._holds(*args):
            self.waiting += 1
            assert self._opened.wait(PATIENCE)
        return self._function(*args)

    def open(self) -> None:
        self._opened.set()


async def check(alices: dict[str, str], bobs: dict[str, str], gate: Gate) -> None:
    """Bob is answered while all that Alice asked for waits at the gate."""
    crowd = [asyncio.create_task(ask(alices)) for _ in range(MANY)]
    try:
        await becomes(lambda: gate.waiting >= SHARE)
        async with asyncio.timeout(PATIENCE / 4):
            assert (await ask(bobs)).status_code == 200
        assert not any(task.done() for task in crowd)
    finally:
        gate.open()
    assert {answer.status_code for answer in await asyncio.gather(*crowd)} == {200}


async def test_beginnings(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    alices, bobs = await run_in_db(bearer, "alice"), await run_in_db(bearer, "bob")

    def is_alices(engine: Engine, request: Any, *rest: Any) -> bool:
        return bool(request.headers["Authorization"] == alices["Authorization"])

    gate = Gate(asking._begin, is_alices)
    monkeypatch.setattr(asking, "_begin", gate)
    await check(alices, bobs, gate)


async def test_endings(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    alices, bobs = await run_in_db(bearer, "alice"), await run_in_db(bearer, "bob")
    alice = await run_in_db(User.objects.get, username="alice")

    def is_alices(call: Call, *rest: Any) -> bool:
        return bool(call.user_id == alice.pk)

    gate = Gate(api_calls.save_call, is_alices)
    monkeypatch.setattr(api_calls, "save_call", gate)
    await check(alices, bobs, gate)
