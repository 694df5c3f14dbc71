"""A stream goes on from a position, and a key gives the same run."""

import random
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.server import PATIENCE, Server

pytestmark = pytest.mark.database

MIXED = "fake: reasoning think=40 tokens=30 delay=0.03"


def test_resume_is_lossless_from_any_position(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("fake: words tokens=200 delay=0.03") as stream:
        stream.next()
        run = stream.run
    text, position, reconnects = "", "", 0
    while True:
        with alice.follow(run, position) as stream:
            wanted = random.randint(1, 40)
            while stream.next() and (len(stream.text) < wanted or not stream.position):
                pass
        assert "reset" not in stream.names
        text += stream.text
        position = stream.position or position
        reconnects += 1
        if stream.finished:
            break
    assert text.split() == [f"word{number}" for number in range(1, 201)]
    assert reconnects > 3


def test_text_and_reasoning_resume_each_at_its_own_place(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask(MIXED) as whole:
        while len(whole.reasoning) < 20:
            whole.next()
        reasoning, text = whole.reasoning, whole.text
        rest = server.person("alice").followed(whole.run, whole.position)
        whole.to_end()
    assert reasoning + rest.reasoning == whole.reasoning
    assert text + rest.text == whole.text
    assert "." in rest.position


def test_two_processes_serve_the_same_bytes_to_all_who_reload(servers) -> None:
    one, two = servers(), servers(apart=True)
    with one.person("alice").ask("fake: words tokens=80 delay=0.03") as stream:
        stream.until(10)
        seen: list[str] = []

        def reload_often(server: Server) -> None:
            text, position = "", ""
            while True:
                with server.person("alice").follow(stream.run, position) as part:
                    wanted = random.randint(20, 200)
                    while part.next() and len(part.text) < wanted:
                        pass
                text, position = text + part.text, part.position or position
                if part.finished:
                    seen.append(text)
                    return

        readers = [threading.Thread(target=reload_often, args=[server]) for server in (one, two, one, two)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(PATIENCE)
        stream.to_end()
    assert seen == [stream.text] * 4


def test_resume_after_done_is_204_and_before_it_repeats_done(server: Server) -> None:
    alice = server.person("alice")
    stream = alice.asked("hello")
    assert stream.position.endswith("!")
    assert (
        alice.get(f"/runs/{stream.run}/stream/", headers={"Last-Event-ID": stream.position}).status_code
        == 204
    )
    again = alice.followed(stream.run, stream.position.removesuffix("!"))
    assert again.names == ["meta", "done", "message"]
    assert again.text == ""
    assert again.finished


def test_a_place_beyond_the_end_of_a_finished_run_resets(server: Server) -> None:
    alice = server.person("alice")
    stream = alice.asked("hello")
    again = alice.followed(stream.run, "99999")
    assert again.names[:2] == ["meta", "reset"]
    assert again.text == stream.text


def test_a_place_beyond_the_end_of_a_live_run_waits(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("fake: words tokens=30 delay=0.05") as stream:
        stream.until(5)
        ahead = server.person("alice").followed(stream.run, "60")
        stream.to_end()
    assert "reset" not in ahead.names
    assert ahead.text == stream.text[60:]


@pytest.mark.parametrize("position", ["-1", "x", "1.", "1.2.3.4", "!", "9" * 41, "1e3", "½", " 1"])
def test_an_invalid_position_is_refused(server: Server, position: str) -> None:
    alice = server.person("alice")
    stream = alice.asked("hello")
    response = alice.get(f"/runs/{stream.run}/stream/", params={"after": position})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "malformed"


def test_last_event_id_wins_over_after(server: Server) -> None:
    alice = server.person("alice")
    stream = alice.asked("hello")
    response = alice.get(
        f"/runs/{stream.run}/stream/", params={"after": "0"}, headers={"Last-Event-ID": stream.position}
    )
    assert response.status_code == 204


def test_long_text_is_replayed_in_bounded_frames(server: Server) -> None:
    alice = server.person("alice")
    stream = alice.asked("fake: words tokens=6000 delay=0")
    assert len(stream.text) > 40_000
    with alice.follow(stream.run) as again:
        sizes = []
        while event := again.next():
            sizes.append(len(event.data))
    assert again.text == stream.text
    assert max(sizes) < 20_000


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
    first = alice.asked("hello", client_key=sent)
    second = alice.asked("hello", client_key=sent)
    assert (second.status, second.run, second.text) == (200, first.run, first.text)
    assert alice.post(f"/messages/{first.meta['message']}/delete/", {}).status_code == 200
    third = alice.post("/c/", {"content": "hello", "client_key": sent})
    assert (third.status_code, third.json()["error"]["message"]) == (404, "This reply was deleted.")


@pytest.mark.parametrize(
    "other", [{"content": "else"}, {"model": "@cf/openai/gpt-oss-20b"}, {"system": "Be short."}]
)
def test_reused_key_with_other_content_is_a_conflict(server: Server, fake, other) -> None:
    sent, alice = str(uuid.uuid4()), server.person("alice")
    first = alice.asked("hello", client_key=sent)
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
    further = alice.asked("more", f"/c/{stream.conversation}/messages/")
    assert further.finished


def test_without_a_key_each_send_is_new(server: Server) -> None:
    alice = server.person("alice")
    for _ in range(2):
        with alice.client.stream("POST", "/c/", json={"content": "hello"}) as response:
            response.read()
    assert server.database.value("SELECT COUNT(*) FROM chat_conversation") == 2
