"""The number of downloads that a person may have open, and downloads that end early."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future

import pytest
from django.test import RequestFactory

from chat.exceptions import ServiceOverloaded
from chat.transfer.download import Download, read_pieces, while_allowed


async def pieces() -> AsyncIterator[str]:
    for text in "abc":
        yield text


def download(person: int) -> Download:
    return Download(RequestFactory().get("/"), person, pieces(), "x.md", "text/markdown")


@pytest.mark.django_db  # a closed response ends what is left of its request
def test_a_person_has_two_downloads_at_a_time() -> None:
    first, second = download(1), download(1)
    with pytest.raises(ServiceOverloaded):
        download(1)
    download(2).close()
    first.close()
    first.close()  # a second close frees no second place
    third = download(1)
    with pytest.raises(ServiceOverloaded):
        download(1)
    second.close()
    third.close()


async def test_a_download_ends_when_its_person_loses_access() -> None:
    left = iter([True, True, False])

    def is_allowed() -> bool:
        return next(left)

    texts: Iterator[str] = iter("abc")
    assert [text async for text in read_pieces(texts, is_allowed)] == ["a", "b"]
    left = iter([True, False])
    assert [text async for text in while_allowed(pieces(), is_allowed)] == ["a"]


async def test_a_failed_future_is_left_to_what_yields_it() -> None:
    failed: Future[str] = Future()
    failed.set_exception(FileNotFoundError())
    logged: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, about: logged.append(about))
    assert [text async for text in read_pieces(iter([failed, "a"]), lambda: True)] == ["a"]
    gc.collect()
    assert logged == []
