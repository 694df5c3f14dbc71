"""Clients that ask for files and do not read them: the server keeps no file in memory for them."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.files import documents
from tests.support.people import SESSIONS
from tests.support.server import Server
from tests.support.waiting import until

CLIENTS, FILE_BYTES, MOST_MORE = 12, 15_000_000, 60_000_000


def memory(server: Server) -> int:
    """The bytes of RAM that the server holds."""
    assert server.process
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    alice = server.person("alice")
    content = documents.docx("text", word__media__a=os.urandom(FILE_BYTES))
    told = alice.client.post("/attachments/", files={"file": ("a.docx", content)}).json()
    response = alice.get(told["url"])
    assert response.content == content
    assert response.headers["Content-Length"] == str(len(content))
    yield told["url"]
    alice.client.delete(told["url"])


def slow(server: Server, path: str) -> socket.socket:
    """Ask for the file, read its first bytes, and no more."""
    made = socket.create_connection(("127.0.0.1", server.port))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    cookie = f"sessionid={SESSIONS['alice']}"
    made.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode())
    assert made.recv(12) == b"HTTP/1.1 200"
    return made


def open_files(server: Server) -> int:
    assert server.process
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def test_slow_readers_of_a_file_cost_no_memory(server: Server, url: str) -> None:
    before, files = memory(server), open_files(server)
    with ExitStack() as clients:
        for _ in range(CLIENTS):
            clients.enter_context(slow(server, url))
        time.sleep(1)
        assert memory(server) - before < MOST_MORE < CLIENTS * FILE_BYTES
    until(lambda: open_files(server) <= files)
