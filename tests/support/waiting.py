"""Waiting for a condition: short on an idle machine, and much longer on a busy one."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 60.0  # seconds after which it does not come true any more


def until(condition: Callable[[], T | None], patience: float = PATIENCE) -> T:
    """Wait until the condition is true. Return its value."""
    give_up = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < give_up, "this does not come true"
        time.sleep(0.02)
    return found


async def becomes(condition: Callable[[], object]) -> None:
    """The same on an event loop, which turns meanwhile."""
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up, "this does not come true"
        await asyncio.sleep(0.005)
