"""Many requests of one person hold up neither the requests of others nor the ends of their calls."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import AsyncClient

from chat.api import calls as call_preparation
from chat.api import openai
from chat.db.executor import REQUEST_THREADS, run_in_db
from chat.engine.engine import Engine
from chat.engine.generation import api_calls
from chat.models import Call, User
from chat.views import pages
from tests.api.client import CHAT, question
from tests.api.in_process import bearer, engine
from tests.support.server import PATIENCE
from tests.support.waiting import becomes

__all__ = ["engine"]
pytestmark = pytest.mark.django_db(transaction=True)
MANY = 3 * REQUEST_THREADS
SHARE = REQUEST_THREADS // 2  # of the threads, for one person


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
    assert {response.status_code for response in await asyncio.gather(*crowd)} == {200}


async def test_beginnings(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    alices, bobs = await run_in_db(bearer, "alice"), await run_in_db(bearer, "bob")

    def is_alices(engine: Engine, request: Any, *rest: Any) -> bool:
        return bool(request.headers["Authorization"] == alices["Authorization"])

    gate = Gate(call_preparation._check, is_alices)
    monkeypatch.setattr(call_preparation, "_check", gate)
    await check(alices, bobs, gate)


async def check_order(alices: Any, bobs: Any, served: list[str]) -> None:
    """Bob's request waits for a few of Alice's, however many she sends.

    Not only for those in the threads: some are served while the event loop is busy with the others.
    """
    assert (await alices()).status_code == 200
    crowd = [asyncio.create_task(alices()) for _ in range(10 * MANY)]
    await becomes(lambda: len(served) > SHARE)
    before = len(served)
    assert (await bobs()).status_code == 200
    assert served[before:].index("bob") <= 4 * REQUEST_THREADS < len(crowd) / 4
    # 429: a page is refused while many of the same person's wait to be rendered.
    assert {response.status_code for response in await asyncio.gather(*crowd)} <= {200, 429}


def slow(function: Callable[..., Any], served: list[str], name: Callable[[Any], str]) -> Callable[..., Any]:
    def serve(*args: Any) -> Any:
        served.append(name(args))
        time.sleep(0.02)
        return function(*args)

    return serve


async def test_a_flood_of_lists(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob = await run_in_db(bearer, "alice"), await run_in_db(bearer, "bob")
    served: list[str] = []

    def name(args: Any) -> str:
        return "alice" if args[-1].headers["Authorization"] == alice["Authorization"] else "bob"

    monkeypatch.setattr(openai, "list_models", slow(openai.list_models, served, name))

    def list_models(headers: dict[str, str]) -> Callable[[], Any]:
        return lambda: AsyncClient().get("/v1/models", headers=headers)

    await check_order(list_models(alice), list_models(bob), served)


async def test_a_flood_of_pages(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    clients = {name: AsyncClient() for name in ("alice", "bob")}
    for name, client in clients.items():
        user = await run_in_db(User.objects.create_user, name, f"{name}@example.org")
        await client.aforce_login(user)
    served: list[str] = []
    monkeypatch.setattr(pages, "_home", slow(pages._home, served, lambda args: args[-1].user.username))
    await check_order(lambda: clients["alice"].get("/"), lambda: clients["bob"].get("/"), served)


async def test_endings(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    alices, bobs = await run_in_db(bearer, "alice"), await run_in_db(bearer, "bob")
    alice = await run_in_db(User.objects.get, username="alice")

    def is_alices(call: Call, *rest: Any) -> bool:
        return bool(call.user_id == alice.pk)

    gate = Gate(api_calls.save_call, is_alices)
    monkeypatch.setattr(api_calls, "save_call", gate)
    await check(alices, bobs, gate)
