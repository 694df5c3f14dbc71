"""Invariant 2: a run's text only grows, and a viewer gets exactly the rest after its position, or a reset."""

import random
import threading

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
        with server.person("alice").follow(whole.run, whole.position) as rest:
            rest.to_end()
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
    with alice.ask("hello") as stream:
        stream.to_end()
    assert stream.position.endswith("!")
    assert (
        alice.get(f"/runs/{stream.run}/stream/", headers={"Last-Event-ID": stream.position}).status_code
        == 204
    )
    with alice.follow(stream.run, stream.position.removesuffix("!")) as again:
        again.to_end()
    assert again.names == ["meta", "done", "message"]
    assert again.text == ""
    assert again.finished


def test_a_place_beyond_the_end_of_a_finished_run_resets(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("hello") as stream:
        stream.to_end()
    with alice.follow(stream.run, "99999") as again:
        again.to_end()
    assert again.names[:2] == ["meta", "reset"]
    assert again.text == stream.text


def test_a_place_beyond_the_end_of_a_live_run_waits(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("fake: words tokens=30 delay=0.05") as stream:
        stream.until(5)
        with server.person("alice").follow(stream.run, "60") as ahead:
            ahead.to_end()
        stream.to_end()
    assert "reset" not in ahead.names
    assert ahead.text == stream.text[60:]


@pytest.mark.parametrize("position", ["-1", "x", "1.", "1.2.3", "!", "9" * 41, "1e3", "½", " 1"])
def test_an_invalid_position_is_refused(server: Server, position: str) -> None:
    alice = server.person("alice")
    with alice.ask("hello") as stream:
        stream.to_end()
    response = alice.get(f"/runs/{stream.run}/stream/", params={"after": position})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "malformed"


def test_last_event_id_wins_over_after(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("hello") as stream:
        stream.to_end()
    response = alice.get(
        f"/runs/{stream.run}/stream/", params={"after": "0"}, headers={"Last-Event-ID": stream.position}
    )
    assert response.status_code == 204


def test_long_text_is_replayed_in_bounded_frames(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("fake: words tokens=6000 delay=0") as stream:
        stream.to_end()
    assert len(stream.text) > 40_000
    with alice.follow(stream.run) as again:
        sizes = []
        while event := again.next():
            sizes.append(len(event.data))
    assert again.text == stream.text
    assert max(sizes) < 20_000
