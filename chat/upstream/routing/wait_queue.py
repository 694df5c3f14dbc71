"""A first-in, first-out queue that reports each waiter's position."""

import asyncio
from collections.abc import Awaitable, Callable

NOTIFY_INTERVAL_SECONDS = 1.0  # minimum between two updates of all positions, for a queue that moves fast

PositionCallback = Callable[[int], None]


def ignore_position(place: int) -> None:
    pass


class WaitQueue:
    """A queue whose callbacks get the position: 1 for the head, 0 when the wait is over."""

    def __init__(self) -> None:
        self._waiting: list[PositionCallback] = []
        self._head = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, at_head: Callable[[], Awaitable[object]], on_position: PositionCallback) -> None:
        """Wait for the head of the queue, then await `at_head` and leave the queue."""

        def notify(place: int) -> None:  # unique per waiter, because several may pass the same callback
            on_position(place)

        self._waiting.append(notify)
        on_position(len(self._waiting))
        try:
            async with self._head:
                await at_head()
        finally:
            self._waiting.remove(notify)
            self._schedule_notify()
        on_position(0)

    def _schedule_notify(self) -> None:
        if self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(NOTIFY_INTERVAL_SECONDS, self._notify_all)

    def _notify_all(self) -> None:
        self._timer = None
        for place, notify in enumerate(self._waiting, 1):
            notify(place)
