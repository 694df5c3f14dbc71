"""People who act at the same moment."""

import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import connections, transaction

WAIT = 0.4  # seconds until the other thread waits for a lock, or has read what it reads before it does


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


def during(change: Callable[[], Any], act: Callable[[], Any]) -> Any:
    """Call `act` in a thread after `change`, before that is committed. Return its result, or its error."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(act())
        except Exception as error:
            results.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        change()
        thread.start()
        time.sleep(WAIT)
    thread.join()
    return results[0]
