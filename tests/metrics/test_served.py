"""The metrics of real servers: who may read them, what they count, and that no counter goes back."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from chat.telemetry.metrics.listener import MAX_CONNECTIONS
from tests.metrics.scrape import TOKEN, Samples, scrape, total
from tests.support.databases import ROOT
from tests.support.processes import workers
from tests.support.server import Server, free_port, give_back
from tests.support.waiting import until

GLM = "@cf/zai-org/glm-4.7-flash"


def get(url: str, **headers: str) -> httpx.Response:
    return httpx.get(url, headers=headers, trust_env=False, timeout=60)


def say(server: Server, content: str) -> None:
    """Leave no connection behind: a worker that retires waits for all of them to end."""
    alice = server.person("alice")
    with alice.client, alice.ask(content) as stream:
        assert stream.to_end().finished


def counters(found: Samples) -> Samples:
    ends = ("_total", "_bucket", "_sum", "_count")
    return {key: value for key, value in found.items() if key[0].endswith(ends)}


def test_without_a_setting_there_is_no_such_page(servers: Callable[..., Server]) -> None:
    server = servers()
    refused = get(f"{server.url}/metrics", Authorization="Bearer x")
    assert refused.status_code == 404
    assert not (server.folder / "metrics").exists()


def test_one_process_counts_and_says_nothing_of_people(servers: Callable[..., Server]) -> None:
    server = servers(METRICS_TOKEN=TOKEN)
    for wrong in (
        {},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": TOKEN},
        {"Authorization": "é"},
    ):
        refused = httpx.get(
            f"{server.url}/metrics",
            headers={key: value.encode() for key, value in wrong.items()},
            trust_env=False,
        )
        assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, 'Bearer realm="metrics"')
        assert "chat_" not in refused.text
    say(server, "My secret is a hedgehog.\nfake: words tokens=3 delay=0")
    say(server, "fake: error status=400")
    found = scrape(server.url)
    assert total(found, "chat_runs_total", model=GLM, outcome="complete") == 1
    assert total(found, "chat_runs_total", model=GLM, outcome="failed") == 1
    assert total(found, "chat_first_token_seconds_count", model=GLM) == 1
    assert total(found, "chat_run_duration_seconds_count") == 2
    assert total(found, "chat_tokens_total", kind="completion") == 3
    assert total(found, "chat_upstream_attempts_total", model=GLM, result="ok") >= 1
    assert total(found, "chat_upstream_attempts_total", model=GLM, result="invalid") == 1
    assert total(found, "chat_database_call_seconds_count", pool="db") > 1
    assert total(found, "chat_workers", state="serving") == 1
    until(lambda: total(scrape(server.url), "chat_event_loop_delay_seconds_count") > 0)
    until(lambda: total(scrape(server.url), "chat_rate_limiter_requests") >= 2)
    text = get(f"{server.url}/metrics", Authorization=f"Bearer {TOKEN}")
    assert text.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert not [word for word in ("alice", "hedgehog", "word1") if word in text.text]
    assert not (server.folder / "metrics").exists()


def test_two_workers_report_for_both_after_one_is_replaced(servers: Callable[..., Server]) -> None:
    server = servers(METRICS_TOKEN=TOKEN, arguments=("--workers", "2"))
    until(lambda: total(scrape(server.url), "chat_workers", state="serving") == 2)
    for _ in range(6):
        say(server, "fake: words tokens=2 delay=0")
    before = scrape(server.url)
    assert total(before, "chat_runs_total") == 6
    dead, other = workers(server)

    os.kill(dead, signal.SIGKILL)
    until(lambda: total(scrape(server.url), "chat_worker_failures_total") == 1)
    until(lambda: total(scrape(server.url), "chat_workers", state="serving") == 2)
    killed = scrape(server.url)
    assert total(killed, "chat_runs_total") == 6
    assert_none_is_lower(before, killed)

    server.signal(signal.SIGHUP)
    until(lambda: not Path(f"/proc/{other}").exists() and len(workers(server)) == 2)
    until(lambda: total(scrape(server.url), "chat_workers") == 2)
    say(server, "fake: words tokens=2 delay=0")
    replaced = scrape(server.url)
    assert total(replaced, "chat_runs_total") == 7
    assert_none_is_lower(killed, replaced)
    until(lambda: len(list((server.folder / "metrics").glob("*/counter_*.db"))) <= 4)


def assert_none_is_lower(before: Samples, after: Samples) -> None:
    """Fail if a counter is lower, or missing."""
    assert counters(before)
    assert {key: value for key, value in counters(before).items() if after.get(key, -1.0) < value} == {}


@pytest.mark.parametrize("arguments", [(), ("--workers", "2")])
def test_an_address_of_their_own(servers: Callable[..., Server], arguments: tuple[str, ...]) -> None:
    port = free_port()
    give_back(port)
    own = f"http://127.0.0.1:{port}"
    server = servers(METRICS_BIND=f"127.0.0.1:{port}", arguments=arguments)
    until(lambda: total(scrape(own), "chat_workers") == max(1, len(arguments)))
    assert get(f"{server.url}/metrics").status_code == 404
    assert get(f"{own}/healthz").status_code == 404
    assert httpx.post(f"{own}/metrics", trust_env=False).status_code == 405
    assert httpx.head(f"{own}/metrics", trust_env=False).status_code == 200
    taken = subprocess.run(
        [sys.executable, "manage.py", "serve", *arguments],
        cwd=ROOT,
        env={**server.env, "PORT": str(free_port())},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert taken.returncode == 1
    assert "Cannot listen on METRICS_BIND: Address already in use." in taken.stderr


def test_an_address_of_their_own_with_a_token(servers: Callable[..., Server]) -> None:
    port = free_port()
    give_back(port)
    server = servers(METRICS_BIND=f"127.0.0.1:{port}", METRICS_TOKEN=TOKEN)
    own = f"http://127.0.0.1:{port}"
    assert get(f"{own}/metrics").status_code == 401
    assert total(scrape(own), "chat_workers") == 1
    assert get(f"{server.url}/metrics", Authorization=f"Bearer {TOKEN}").status_code == 404


def test_an_address_of_their_own_holds_few_connections(servers: Callable[..., Server]) -> None:
    port = free_port()
    give_back(port)
    servers(METRICS_BIND=f"127.0.0.1:{port}")
    with ExitStack() as stack:
        held = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            for _ in range(MAX_CONNECTIONS + 1)
        ]
        assert held[0].recv(1) == b""  # the oldest is closed: idle ones keep nobody out
        held[-1].sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert held[-1].recv(12) == b"HTTP/1.1 200"
