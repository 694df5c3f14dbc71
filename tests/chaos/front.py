"""The proxy in front of the web processes: each connection to the next of them, as bytes come."""

import asyncio
import itertools
from contextlib import suppress

from .links import Link, Streams

Address = tuple[str, int]  # host and port

LOOK_SECONDS = 1.0
CONNECT_SECONDS = 2.0


class Front(Link):
    """With `looks` it asks each process for `/readyz` and leaves out who is not ready, if others are."""

    def __init__(self, addresses: list[Address], *, looks: bool) -> None:
        super().__init__(self._next)
        self._addresses = addresses
        self._ready = set(addresses)
        self._turn = itertools.count()
        self._looks = looks
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await super().start()
        if self._looks and self._task is None:
            self._task = asyncio.create_task(self._look(), name="front looks")

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await super().stop()

    async def _next(self) -> Streams:
        """Connect to the next process. Skip processes that accept no connection."""
        first = next(self._turn)
        count = len(self._addresses)
        addresses = [self._addresses[(first + n) % count] for n in range(count)]
        for address in sorted(addresses, key=lambda address: address not in self._ready):
            with suppress(OSError, TimeoutError):
                return await asyncio.wait_for(asyncio.open_connection(*address), CONNECT_SECONDS)
        raise ConnectionRefusedError("no process takes connections")

    async def _look(self) -> None:
        while True:
            states = await asyncio.gather(*map(is_ready, self._addresses))
            self._ready = {each for each, ready in zip(self._addresses, states, strict=True) if ready}
            await asyncio.sleep(LOOK_SECONDS)


async def is_ready(address: Address, timeout: float = CONNECT_SECONDS) -> bool:
    """Return True if `/readyz` answers 200 in time."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_connection(*address)
            try:
                writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return (await reader.readline()).split()[1:2] == [b"200"]
            finally:
                writer.close()
    return False
