"""Every fault of a reload with files that are being added is counted."""

import asyncio
from collections import Counter

from tests.support.server import Server
from tests.support.waiting import becomes

from .uploads import Uploader, document
from .viewers import client


async def test_a_file_arrives_and_stays_until_it_is_lost(server: Server) -> None:
    counts: Counter[str] = Counter()
    accepted: list[tuple[str, str]] = []
    enough = asyncio.Event()

    def on_accepted(model: str, file: str) -> None:
        accepted.append((model, file))
        enough.set()

    async with client(server.url, kept=True) as http:
        uploader = Uploader(http, counts, on_accepted, seconds=0.1)
        await uploader.work(enough, 0)
        await uploader.look()
        assert counts == Counter(uploads=1, **{"files lost": 0})
        assert [url for url, _ in uploader.accepted] == [f"/attachments/{accepted[0][1]}/"]
        await http.delete(uploader.accepted[0][0])
        await uploader.look()
    assert counts["files lost"] == 1


async def test_an_upload_to_a_server_that_dies_is_counted(server: Server) -> None:
    counts: Counter[str] = Counter()
    enough = asyncio.Event()
    async with client(server.url, kept=False) as http:
        uploader = Uploader(http, counts, lambda *_: None, seconds=20.0)
        working = asyncio.create_task(uploader.work(enough, 0))
        await becomes(lambda: counts["uploads"])
        await asyncio.sleep(1.0)
        await asyncio.to_thread(server.kill)
        await becomes(lambda: counts["uploads refused"])
        enough.set()
        await working
    assert counts["uploads broken"] == 1
    assert not uploader.accepted


async def test_an_upload_that_is_refused_for_good_is_counted(server: Server) -> None:
    counts: Counter[str] = Counter()
    enough = asyncio.Event()
    async with client(server.url, kept=False) as http:
        http.headers["X-CSRFToken"] = "of another page"
        uploader = Uploader(http, counts, lambda *_: None, seconds=0.1)
        working = asyncio.create_task(uploader.work(enough, 1))
        await becomes(lambda: counts["uploads with an error"])
        enough.set()
        await working


def test_a_document_is_as_large_as_it_says() -> None:
    assert len(document(1).content) > 10_000_000
    assert document(1).digest != document(2).digest
