"""An import whose process is killed goes on in another one, and stores each conversation once."""

import json
import os
import signal
from collections.abc import Callable

from tests.support.processes import workers
from tests.support.server import Person, Server
from tests.support.waiting import until
from tests.transfer import samples
from tests.views.uploads import PAGE, press, state, upload, wait_for

CONVERSATIONS = 250
PARAGRAPH = "A longer text, so that the import takes a while. " * 60


def export() -> bytes:
    """A file of Claude's shape."""
    conversations = [
        samples.claude(uuid=f"c-{number}", name=f"Talk {number}") for number in range(CONVERSATIONS)
    ]
    for conversation in conversations:
        conversation["chat_messages"][0]["text"] = PARAGRAPH
        conversation["chat_messages"][0]["content"] = [{"type": "text", "text": PARAGRAPH}]
    return json.dumps(conversations).encode()


def begin(alice: Person, data: bytes) -> None:
    assert upload(alice, data).status_code == 303
    wait_for(alice, "ready")
    assert press(alice, "start").status_code == 303


def stored(server: Server) -> tuple[int, int, int]:
    """Return the numbers of conversations, of their names and of messages."""
    (row,) = server.database.rows(
        "SELECT COUNT(*), COUNT(DISTINCT title), (SELECT COUNT(*) FROM chat_message) FROM chat_conversation"
    )
    return row[0], row[1], row[2]


def abandon(server: Server) -> None:
    """Date the last heartbeat of the killed process back, so that nobody waits until it counts as dead."""
    claimed = server.database.value("SELECT COUNT(*) FROM chat_importjob WHERE beat IS NOT NULL")
    assert claimed == 1, "it was given back, as by a process that ends in good order"
    server.database.rows("UPDATE chat_importjob SET beat = '2026-01-01 00:00:00'")


def test_an_import_goes_on_after_a_kill(servers: Callable[..., Server]) -> None:
    server = servers()
    begin(server.person("alice"), export())
    until(lambda: stored(server)[0] > 20)
    server.kill()
    assert stored(server)[0] < CONVERSATIONS, "the import had ended before the kill"
    abandon(server)
    server.start()
    wait_for(server.person("alice"), "done")
    conversations, names, messages = stored(server)
    assert (conversations, names) == (CONVERSATIONS, CONVERSATIONS)
    again = server.person("alice")
    assert upload(again, export()).status_code == 303
    until(lambda: state(again)["state"] != "checking")
    assert f"{CONVERSATIONS} chats are" in again.get(PAGE).text
    assert stored(server) == (CONVERSATIONS, CONVERSATIONS, messages)


def test_an_import_goes_on_when_its_worker_is_killed(servers: Callable[..., Server]) -> None:
    server = servers(arguments=("--workers", "2"))
    until(lambda: server.database.value("SELECT COUNT(*) FROM chat_worker") == 2)
    alice = server.person("alice")
    begin(alice, export())
    until(lambda: stored(server)[0] > 20)
    for worker in workers(server):
        os.kill(worker, signal.SIGKILL)
    assert stored(server)[0] < CONVERSATIONS, "the import had ended before the kill"
    abandon(server)
    until(lambda: server.database.value("SELECT COUNT(*) FROM chat_importjob WHERE state = 'done'"))
    assert stored(server)[:2] == (CONVERSATIONS, CONVERSATIONS)
