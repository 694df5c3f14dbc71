"""Every fault of a reload is counted."""

import asyncio
from collections import Counter

import pytest

from tests.support.server import Server
from tests.support.waiting import becomes

from . import viewers
from .viewers import Viewer, client


async def test_a_viewer_sees_all_of_a_reply(server: Server) -> None:
    counts: Counter[str] = Counter()
    async with client(server.url, kept=True) as http:
        viewer = Viewer(http, counts, "fake: words tokens=3 delay=0")
        await viewer.watch()
        again = Viewer(http, counts, run=viewer.run)
        await again.watch()
    assert viewer.text == again.text == "word1 word2 word3"
    assert viewer.status == again.status == "complete"
    assert counts == Counter(viewers=2, moved=0, cut=0)


async def test_a_server_that_dies_is_counted(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewers, "PATIENCE", 1.0)
    counts: Counter[str] = Counter()
    async with client(server.url, kept=False) as http:
        viewer = Viewer(http, counts, "fake: words tokens=600 delay=0.1")
        watching = asyncio.create_task(viewer.watch())
        await becomes(lambda: viewer.text)
        await asyncio.to_thread(server.kill)
        await watching
    assert counts["broken"] == counts["cut"] == 1
    assert counts["refused"] > 0


async def test_a_server_that_takes_nothing_is_counted(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewers, "PATIENCE", 0.5)
    counts: Counter[str] = Counter()
    async with client(server.url, kept=False) as http:
        await Viewer(http, counts).watch()  # a message without text
    assert counts["other statuses"] > 0
    assert counts["cut"] == 1
