"""Invariant 3: the database is the truth and the channel layer a hint."""

import time

import pytest

from tests.support.server import Server, Stream, free_port

pytestmark = pytest.mark.database
SLOW = "fake: words tokens=60 delay=0.05"
SOON = 10.0  # seconds: much less than it would take by itself, on machines that are busy


def stop_from_another(one: Server, two: Server) -> None:
    with one.person("alice").ask("fake: words tokens=400 delay=0.05") as at_one:
        at_one.until(10)
        began = time.monotonic()
        assert two.person("alice").stop(at_one.run).status_code == 202
        at_one.to_end()
    assert time.monotonic() - began < SOON
    assert at_one.done["status"] == "stopped"


@pytest.mark.parametrize("layer", ["none", "dead"])
def test_without_a_layer_remote_viewers_read_and_stop(servers, layer: str) -> None:
    settings = {"REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"} if layer == "dead" else {}
    one, two = servers(**settings), servers(apart=True, **settings)
    with one.person("alice").ask(SLOW) as at_one:
        at_one.until(10)
        with two.person("alice").follow(at_one.run) as at_two:
            at_two.until(20)
            at_one.to_end()
            ended = time.monotonic()
            at_two.to_end()
    assert at_two.text == at_one.text
    assert at_two.done["status"] == "complete"
    assert at_two.finished
    assert time.monotonic() - ended < SOON
    stop_from_another(one, two)


@pytest.mark.redis
def test_with_redis_text_elsewhere_keeps_up(servers, redis_url: str) -> None:
    one, two = servers(REDIS_URL=redis_url), servers(apart=True, REDIS_URL=redis_url)
    with one.person("alice").ask("fake: words tokens=120 delay=0.05") as at_one:
        at_one.until(10)
        with two.person("alice").follow(at_one.run) as at_two:
            at_two.until(20)
            rates = [rate(at_two, length) for length in (200, 400, 600)]
            at_two.to_end()
        at_one.to_end()
    assert at_two.text == at_one.text
    # At one time of three: whatever comes late because the machine is busy comes in fewer frames.
    assert max(rates) > 5, "the database alone brings one frame a second"
    stop_from_another(one, two)


def rate(stream: Stream, length: int) -> float:
    """Frames a second, until that much text has come."""
    frames, started = len(stream.names), time.monotonic()
    stream.until(length)
    return (len(stream.names) - frames) / (time.monotonic() - started)


@pytest.mark.redis
def test_the_same_send_to_two_processes_is_one_run(servers, redis_url: str) -> None:
    one, two = servers(REDIS_URL=redis_url), servers(apart=True, REDIS_URL=redis_url)
    with one.person("alice").ask(SLOW) as at_one:
        at_one.until(10)
        key = one.database.value("SELECT client_key FROM chat_run")
        with two.person("alice").ask(SLOW, client_key=str(key)) as at_two:
            assert at_two.status == 200
            at_two.to_end()
        at_one.to_end()
    assert at_two.run == at_one.run
    assert at_two.text == at_one.text
