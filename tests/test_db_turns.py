"""The database's threads are shared between people, in the order of service."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from chat.db import requester
from chat.db.executor import DatabaseExecutor
from chat.db.requester import Requester
from tests.support.waiting import PATIENCE, becomes

THREADS, SHARE, FLOOD = 4, 2, 40


@pytest.fixture
async def executor() -> AsyncIterator[DatabaseExecutor]:
    made = DatabaseExecutor("test", THREADS)
    yield made
    await made.aclose(PATIENCE)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requester, "_users", {})


class Desk:
    """Counts those whose work is done at the same time, and holds them until it is opened."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.served: list[str] = []

    def serve(self, name: str) -> None:
        self.served.append(name)
        assert self.opened.wait(PATIENCE)


def start(executor: DatabaseExecutor, who: Requester | None, desk: Desk, name: str) -> asyncio.Task[None]:
    requester.requester.set(who)  # the task gets a copy of the context
    return asyncio.create_task(executor(desk.serve, name))


async def settled(desk: Desk, served: int) -> None:
    await becomes(lambda: len(desk.served) >= served)
    await asyncio.sleep(0.1)  # for what must not come


async def test_nobody_waits_for_a_flood_of_another_person(executor: DatabaseExecutor) -> None:
    """Without a flood, a request of one call is served first; with it, third."""
    desk = Desk()
    flood = [start(executor, Requester(1), desk, "alice") for _ in range(FLOOD)]
    other = start(executor, Requester(2), desk, "bob")
    await settled(desk, SHARE + 1)
    assert sorted(desk.served) == ["alice"] * SHARE + ["bob"]
    desk.opened.set()
    await asyncio.gather(other, *flood)
    assert len(desk.served) == FLOOD + 1


async def test_unknown_credentials_share_their_address(executor: DatabaseExecutor) -> None:
    desk = Desk()
    invented = [Requester(f"invented {number}", "address") for number in range(FLOOD)]
    flood = [start(executor, each, desk, "mallory") for each in invented]
    known = start(executor, Requester(2), desk, "bob")
    await settled(desk, THREADS)
    assert sorted(desk.served) == ["bob"] + ["mallory"] * (THREADS - 1)
    desk.opened.set()
    await asyncio.gather(known, *flood)


async def test_a_disconnected_client_frees_no_thread(executor: DatabaseExecutor) -> None:
    desk = Desk()
    for _ in range(FLOOD):
        gone = start(executor, Requester(1), desk, "alice")
        await asyncio.sleep(0.01)
        gone.cancel()
    await settled(desk, SHARE)
    assert desk.served == ["alice"] * SHARE
    desk.opened.set()
    last = start(executor, Requester(1), desk, "alice again")
    await asyncio.wait_for(last, PATIENCE)


async def test_background_work_takes_no_turns(executor: DatabaseExecutor) -> None:
    desk = Desk()
    work = [start(executor, None, desk, "engine") for _ in range(FLOOD)]
    await settled(desk, THREADS)
    assert len(desk.served) == THREADS
    desk.opened.set()
    await asyncio.gather(*work)


def whoever(*credentials: str) -> Requester:
    requester.identify(list(credentials), "192.0.2.1")
    found = requester.requester.get()
    assert found
    return found


def test_all_keys_and_sessions_of_a_user_are_one_person() -> None:
    first, second = whoever("", "Bearer one"), whoever("session", "")
    assert first.person != second.person
    assert first.address == second.address
    requester.remember("Bearer one", 7)
    requester.remember("session", 7)
    assert whoever("", "Bearer one") == whoever("session", "Bearer unknown") == Requester(7)
    assert whoever("", "").address == first.address


def test_old_credentials_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requester, "MAX_CREDENTIALS", 3)
    for number in range(5):
        requester.remember(f"key {number}", number)
    known = [whoever(f"key {number}").address is None for number in range(5)]
    assert known == [False, False, True, True, True]
