"""People who act at the same moment."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections


def at_once(count: int, act: Callable[[], Any]) -> list[Any]:
    """Call `act` in `count` threads at the same moment. Return the results."""
    barrier, results = threading.Barrier(count), []

    def run() -> None:
        barrier.wait()
        try:
            results.append(act())
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
