"""Heavy pages and slow downloads of one person leave the others their share."""

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from django.test import Client

from chat.views import pages
from chat.views.conversations import thread
from tests.files import documents
from tests.support.message_trees import Tree, conversation
from tests.support.people import SESSIONS
from tests.support.server import Person, Server
from tests.support.waiting import until
from tests.views.heavy_page import AT_ONCE, seconds_meanwhile

SECONDS = 15.0  # that another's page may take on a busy machine; it was 163 when each view was rendered anew
CLIENTS, FILE_BYTES, MOST_MORE = 12, 15_000_000, 60_000_000


def test_slow_pages_of_one_user_do_not_delay_another(server: Server) -> None:
    meanwhile, worst = seconds_meanwhile(server)
    assert len(worst) == AT_ONCE
    assert meanwhile
    assert max(meanwhile) < SECONDS


@pytest.mark.django_db
def test_page_text_is_bounded_except_the_last_turn() -> None:
    tree = Tree(conversation())
    branch = tree.grow(None, 8)
    for message in branch[1::2]:
        message.text = "x" * 400_000
        message.save()
    tree.show(branch[-1])

    shown = thread.read(tree.conversation)
    assert [item["id"] for item in shown.items] == [message.pk for message in branch[-4:]]
    assert shown.older == branch[-4].pk
    before = thread.read(tree.conversation, branch[-4])
    assert [item["id"] for item in before.items] == [message.pk for message in branch[:4]]

    branch[-1].text = "x" * 1_048_576
    branch[-1].save()
    assert [item["id"] for item in thread.read(tree.conversation).items] == [m.pk for m in branch[-2:]]


def test_too_many_concurrent_pages_of_one_user_are_refused(alice: Person, server: Server) -> None:
    """Expect 200 for the accepted ones, and for another person's page."""

    async def load_pages() -> list[int]:
        limits = httpx.Limits(max_connections=400)
        async with httpx.AsyncClient(cookies=alice.client.cookies, limits=limits, timeout=120) as client:
            responses = await asyncio.gather(*(client.get(f"{server.url}/") for _ in range(400)))
        return [response.status_code for response in responses]

    statuses = asyncio.run(load_pages())
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) >= pages.MAX_WAITING_CHAT_PAGES
    assert server.person("bob").get("/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_refused_page_is_not_loaded_and_says_when_to_come(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Tree(conversation())
    tree.show(tree.grow(None, 2)[-1])
    client.force_login(tree.conversation.user)
    loaded: list[object] = []
    monkeypatch.setattr(pages.thread, "read", lambda *args, **options: loaded.append(args))
    monkeypatch.setattr(pages.RENDER_POOL, "waiting", lambda person: pages.MAX_WAITING_CHAT_PAGES)
    for path in ("/", f"/c/{tree.conversation.pk}/"):
        response = client.get(path)
        assert (response.status_code, response["Retry-After"]) == (429, "5")
        assert "too many pages" in response.content.decode()
    assert not loaded


def memory(server: Server) -> int:
    """The bytes of RAM that the server holds."""
    assert server.process
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    alice = server.person("alice")
    content = documents.docx("text", word__media__a=os.urandom(FILE_BYTES))
    told = alice.uploaded("a.docx", content)
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
