"""No request inherits the context of another one: its thread, its language, its id."""

import socket
from collections.abc import Callable

from django.conf import settings
from django.utils import translation

from chat.db.executor import DatabaseExecutor
from tests.support.server import Server
from tests.support.waiting import PATIENCE

PADDING = "x" * 4_000  # Twisted stops reading once 16 KiB wait behind a request


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Padding: {PADDING}\r\n\r\n".encode()


def statuses(connection: socket.socket, count: int) -> list[str]:
    """Read responses without a body until that many have come."""
    read = b""
    while read.count(b"\r\n\r\n") < count:
        piece = connection.recv(65_536)
        assert piece, read
        read += piece
    return [head.split(b" ")[1].decode() for head in read.split(b"\r\n\r\n")[:count]]


def test_a_request_follows_one_whose_end_resumed_reading(servers: Callable[..., Server]) -> None:
    """Reading then goes on in the context of that request, which is over: its thread takes no more work."""
    server = servers()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(get("/settings/"))
        connection.sendall(get("/settings/") * 9)
        assert statuses(connection, 10) == ["302"] * 10
        connection.sendall(get("/accounts/logout/").replace(b"GET", b"HEAD"))
        assert statuses(connection, 1) == ["405"]


async def test_a_database_thread_has_its_caller_s_language() -> None:
    """Not that of the call before. A language that a call activates is then its caller's."""
    executor = DatabaseExecutor("test")
    with translation.override("de"):
        assert await executor(translation.get_language) == "de"
        await executor(translation.activate, "fr")
        assert translation.get_language() == "fr"
    with translation.override("en"):
        assert await executor(translation.get_language) == "en"
        await executor(translation.activate, "de")
    with translation.override(None):
        assert await executor(translation.get_language) == settings.LANGUAGE_CODE
        assert translation.get_language() is None
    await executor.aclose(PATIENCE)
