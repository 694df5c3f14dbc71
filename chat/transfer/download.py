"""The streaming response of an export, whose file is built while it is downloaded."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.exceptions import ServiceOverloaded

MAX_OPEN_DOWNLOADS = 2  # downloads of one person at a time, in each process
DOWNLOAD_RETRY_SECONDS = 10
T = TypeVar("T")
Pieces = AsyncIterator[str] | AsyncIterator[bytes]
_open: Counter[Hashable] = Counter()


class Download(StreamingHttpResponse):
    """A download of one person. While its client is slow, it holds no thread and no database connection.

    Raises ServiceOverloaded if the person has too many open downloads.
    """

    def __init__(self, request: HttpRequest, person: Hashable, pieces: Pieces, name: str, kind: str) -> None:
        if _open[person] >= MAX_OPEN_DOWNLOADS:
            raise ServiceOverloaded(
                _("You have too many downloads open. Wait until one of them is complete."),
                retry_after=DOWNLOAD_RETRY_SECONDS,
            )
        _open[person] += 1
        self._person: Hashable | None = person
        super().__init__(_nothing() if request.method == "HEAD" else pieces, content_type=kind)
        self["Content-Disposition"] = content_disposition_header(True, name) or ""
        self["Cache-Control"] = "no-store"
        self["X-Accel-Buffering"] = "no"  # otherwise nginx would buffer a large file

    def close(self) -> None:
        super().close()
        person, self._person = self._person, None
        if person is not None:
            _open[person] -= 1
            if not _open[person]:
                del _open[person]


async def read_pieces(
    pieces: "Iterator[T | Future[Any]]", is_allowed: Callable[[], bool]
) -> AsyncIterator[T]:
    """Yield the pieces, each computed in a database thread. End early if the person loses access.

    `pieces` may yield futures, each of which is waited for before the next piece is asked for.
    """
    while await run_in_db(is_allowed):
        piece = await run_in_db(lambda: next(pieces, None))
        if piece is None:
            return
        if isinstance(piece, Future):
            await asyncio.gather(asyncio.wrap_future(piece), return_exceptions=True)
        else:
            yield piece


async def while_allowed(pieces: AsyncIterator[str], is_allowed: Callable[[], bool]) -> AsyncIterator[str]:
    """Yield the pieces. End early if the person loses access."""
    async for piece in pieces:
        if not await run_in_db(is_allowed):
            return
        yield piece


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield
