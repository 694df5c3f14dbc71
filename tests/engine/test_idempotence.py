"""Invariant 5: the same key is the same run, and a conversation has one live run."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.server import Server

pytestmark = pytest.mark.database


def test_twenty_sends_with_one_key_are_one_turn(server: Server, fake) -> None:
    sent = str(uuid.uuid4())

    def send(_: int) -> tuple[int, str, str]:
        with server.person("alice").ask("hello there", client_key=sent) as stream:
            stream.to_end()
            return stream.status, stream.run, stream.text

    with ThreadPoolExecutor(20) as pool:
        results = set(pool.map(send, range(20)))
    assert len(results) == 1
    status, _, text = results.pop()
    assert status == 200
    assert "hello there" in text
    assert server.database.value("SELECT COUNT(*) FROM chat_message WHERE role = 'user'") == 1
    assert server.database.value("SELECT COUNT(*) FROM chat_conversation") == 1
    assert len([call for call in fake.calls if "/ai/run/" in call["path"]]) == 1


def test_a_key_replays_its_run_also_when_that_has_finished(server: Server) -> None:
    sent, alice = str(uuid.uuid4()), server.person("alice")
    with alice.ask("hello", client_key=sent) as first:
        first.to_end()
    with alice.ask("hello", client_key=sent) as second:
        second.to_end()
    assert (second.status, second.run, second.text) == (200, first.run, first.text)


@pytest.mark.parametrize(
    "other", [{"content": "else"}, {"model": "@cf/openai/gpt-oss-20b"}, {"system": "Be short."}]
)
def test_reused_key_with_other_content_is_a_conflict(server: Server, fake, other) -> None:
    sent, alice = str(uuid.uuid4()), server.person("alice")
    with alice.ask("hello", client_key=sent) as first:
        first.to_end()
    response = alice.post("/c/", {"content": "hello", "client_key": sent, **other})
    assert response.status_code == 409
    assert response.json()["error"]["code"] == "conflict"
    further = alice.post(f"/c/{first.conversation}/messages/", {"content": "hello", "client_key": sent})
    assert further.status_code == 409
    assert server.database.value("SELECT COUNT(*) FROM chat_message") == 2
    assert len([call for call in fake.calls if "/ai/run/" in call["path"]]) == 1


def test_two_people_may_use_the_same_key(server: Server) -> None:
    sent = str(uuid.uuid4())
    with (
        server.person("alice").ask("hello", client_key=sent) as one,
        server.person("bob").ask("hello", client_key=sent) as two,
    ):
        one.to_end()
        two.to_end()
    assert one.run != two.run


def test_busy_conversation_names_its_run_and_takes_no_other(server: Server, fake) -> None:
    alice = server.person("alice")
    with alice.ask("fake: held") as stream:
        stream.until(5)
        busy = server.person("alice").post(f"/c/{stream.conversation}/messages/", {"content": "more"})
        assert busy.status_code == 409
        assert busy.json()["error"]["code"] == "busy"
        assert busy.json()["error"]["run"] == stream.run
        fake.go_on()
        stream.to_end()
    assert server.database.value("SELECT COUNT(*) FROM chat_message") == 2
    with alice.ask("more", f"/c/{stream.conversation}/messages/") as further:
        further.to_end()
    assert further.finished


def test_fifty_writers_make_one_turn_at_a_time(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("hello") as stream:
        stream.to_end()

    def send(number: int) -> int:
        with server.person("alice").ask(f"n{number}", f"/c/{stream.conversation}/messages/") as further:
            further.response.read() if further.status != 200 else further.to_end()
            return further.status

    with ThreadPoolExecutor(10) as pool:
        statuses = list(pool.map(send, range(50)))
    assert set(statuses) <= {200, 409}
    turns = 1 + statuses.count(200)
    assert server.database.value("SELECT COUNT(*) FROM chat_message") == 2 * turns
    assert server.database.value("SELECT COUNT(*) FROM chat_run WHERE status = 'complete'") == turns


def test_without_a_key_each_send_is_new(server: Server) -> None:
    alice = server.person("alice")
    for _ in range(2):
        with alice.client.stream("POST", "/c/", json={"content": "hello"}) as response:
            response.read()
    assert server.database.value("SELECT COUNT(*) FROM chat_conversation") == 2
