"""One request and what comes back, at little cost to the cores that the load client shares.

While a stream runs, its bytes are only kept with the time they came; they are read when all is over.
"""

import asyncio
import time
from typing import cast
from urllib.parse import urlsplit

from .targets import Question, Target
from .transcript import Reader, Transcript

END = b"0\r\n\r\n"  # of a chunked body


class Recorder(asyncio.Protocol):
    """One request and its response, which is read at once up to its first text, to know that it runs."""

    def __init__(self, request: bytes) -> None:
        loop = asyncio.get_running_loop()
        self.runs: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.transport: asyncio.Transport | None = None
        self._reader = Reader(time.monotonic())
        self._request = request
        self._later: list[tuple[float, bytes]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._reader.transcript.sent = time.monotonic()
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        if self.runs.done():
            self._later.append((now, data))
        else:
            self._reader.feed(now, data)
            if self._reader.transcript.arrivals:
                self.runs.set_result(None)
        if data.endswith(END):
            self.close()

    def connection_lost(self, error: Exception | None) -> None:
        for outcome in (self.runs, self.ended):
            if not outcome.done():
                outcome.set_result(None)

    def close(self) -> None:
        if self.transport:
            self.transport.close()

    def read(self) -> Transcript:
        for at, data in self._later:
            self._reader.feed(at, data)
        self._later.clear()
        return self._reader.transcript


async def start_recording(target: Target, question: Question, wait: float = 0.0) -> Recorder:
    if wait:
        await asyncio.sleep(wait)
    address = urlsplit(target.url)
    assert address.hostname
    assert address.port
    recorder = Recorder(target.request(question))
    try:
        await asyncio.get_running_loop().create_connection(lambda: recorder, address.hostname, address.port)
    except OSError as error:
        recorder.connection_lost(error)
    return recorder
