"""`python -m tests.support.deadline_server`: our server with short deadlines, and an application that counts.

It prints its port. `/slow` streams for four times as long as a request may take.
"""

import asyncio
import os
import socket
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.support.settings")
django.setup()  # the limits of uploads look up sessions and keys

import chatsite.server.unused_modules  # noqa: E402, F401 - before Daphne
from chatsite.server.connection import DeadlineChannel  # noqa: E402
from chatsite.server.daphne_server import ChatServer  # noqa: E402

SECONDS, RATE = 2.0, 1_000

DeadlineChannel.REQUEST_SECONDS = SECONDS
DeadlineChannel.MIN_BYTES_PER_SECOND = RATE


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    length, more = 0, True
    while more:
        message = await receive()
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/slow":
        for _ in range(8):
            await send({"type": "http.response.body", "body": b"more ", "more_body": True})
            await asyncio.sleep(SECONDS / 2)
    await send({"type": "http.response.body", "body": b"got %d" % length})


async def _stop(grace: float) -> None:
    """There is nothing to drain."""


def main() -> None:
    server = ChatServer(
        application,
        socket.create_server(("127.0.0.1", 0)),
        grace=0.0,
        on_stop=_stop,
        on_force=lambda: None,
        on_listen=lambda: print(server.ports[0].getHost().port, flush=True),
    )
    server.run()


if __name__ == "__main__":
    main()
