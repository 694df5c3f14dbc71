"""Who waits for something, in the order in which they came, each told where they stand."""

import asyncio
from collections.abc import Awaitable, Callable

NOTIFY_INTERVAL_SECONDS = (
    1.0  # seconds between two times that all are told: a line that moves fast is told of seldom
)

PositionCallback = Callable[[int], None]


def ignore_position(place: int) -> None:
    """For who does not want to know."""


class WaitQueue:
    """`place` 1 is next; 0 says that the wait is over."""

    def __init__(self) -> None:
        self._waiting: list[PositionCallback] = []
        self._first = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, turn: Callable[[], Awaitable[object]], tell: PositionCallback) -> None:
        """Come to the head of the line, then await `turn`."""

        def told(place: int) -> None:  # two may bring the same function
            tell(place)

        self._waiting.append(told)
        tell(len(self._waiting))
        try:
            async with self._first:
                await turn()
        finally:
            self._waiting.remove(told)
            self._schedule_notify()
        tell(0)

    def _schedule_notify(self) -> None:
        if self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(NOTIFY_INTERVAL_SECONDS, self._notify_all)

    def _notify_all(self) -> None:
        self._timer = None
        for place, told in enumerate(self._waiting, 1):
            told(place)
