"""`manage.py serve --workers N`: several processes on one port, started again when they die, and replaced."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from django.core.management.base import CommandError

from chatsite.management.commands.serve import Command
from tests.support.databases import ROOT
from tests.support.processes import workers
from tests.support.server import Server
from tests.support.waiting import until

TWO = ("--workers", "2")


@pytest.fixture
def pair(servers: Callable[..., Server]) -> Server:
    """Two workers that both serve."""
    server = servers(arguments=TWO)
    until(lambda: server.database.value("SELECT COUNT(*) FROM chat_worker") == 2)
    return server


def gone(process: int) -> bool:
    return not Path(f"/proc/{process}").exists()


def connections(server: Server, worker: int) -> int:
    """Return how many connections to the server's port a process has open."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text("utf-8").splitlines()[1:]]
    established = {row[9] for row in rows if row[1].endswith(f":{server.port:04X}") and row[3] == "01"}
    files = set()
    for file in Path(f"/proc/{worker}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            files.add(os.readlink(file))
    return len({f"socket:[{inode}]" for inode in established} & files)


def connect(server: Server, count: int, stack: ExitStack) -> list[socket.socket]:
    """Open connections one after another; each has had a response and stays open."""
    opened = []
    for _ in range(count):
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        opened.append(connection)
    return opened


def test_both_workers_answer_on_one_port_and_share_memory(pair: Server) -> None:
    with ExitStack() as streams:
        for _ in range(16):
            streams.enter_context(pair.person("alice").ask("fake: words tokens=200 delay=0.1")).until(1)
        assert pair.database.value("SELECT COUNT(DISTINCT worker_id) FROM chat_run") == 2
    for worker in workers(pair):
        rollup = Path(f"/proc/{worker}/smaps_rollup").read_text("utf-8")
        kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in rollup.splitlines()[1:]}
        assert kilobytes["Private_Dirty"] < 0.7 * kilobytes["Rss"]


def test_both_workers_get_the_same_share_of_the_connections(pair: Server) -> None:
    """The kernel prefers one of several idle processes."""

    def shares() -> list[int]:
        return [connections(pair, worker) for worker in workers(pair)]

    def are_equal() -> bool:
        return max(shares()) - min(shares()) <= 4

    with ExitStack() as stack:
        until(lambda: connect(pair, 1, stack) and min(shares()))  # both listen
        opened = connect(pair, 40, stack)
        assert are_equal()
        left = sum(shares()) - 20
        for connection in opened[::2]:
            connection.close()
        until(lambda: sum(shares()) == left)
        connect(pair, 20, stack)
        assert are_equal()
    until(lambda: shares() == [0, 0])


def test_a_frozen_worker_keeps_no_connection_from_the_other(pair: Server) -> None:
    frozen, other = workers(pair)
    os.kill(frozen, signal.SIGSTOP)
    try:
        with ExitStack() as stack:
            connect(pair, 30, stack)
            assert connections(pair, other) == 30
    finally:
        os.kill(frozen, signal.SIGCONT)


def test_a_dead_worker_is_replaced_while_the_other_one_serves(pair: Server) -> None:
    dead, other = workers(pair)
    os.kill(dead, signal.SIGKILL)
    until(lambda: dead not in (now := workers(pair)) and len(now) == 2)
    assert other in workers(pair)
    assert f"worker {dead} was ended by signal 9" in pair.log.read_text("utf-8")


def test_sighup_replaces_each_worker_and_nobody_notices(pair: Server) -> None:
    """A reply goes on, sends on new and on kept connections are accepted, and no connection is refused."""
    old = workers(pair)
    reader, statuses, enough = pair.person("alice"), [], threading.Event()

    def send() -> None:
        kept = pair.person("bob")
        while not enough.is_set():
            for person in (kept, pair.person("bob")):
                with person.ask("fake: words tokens=2 delay=0") as stream:
                    statuses.append(stream.status)
                    stream.to_end()
                statuses.append(person.get("/").status_code)

    sender = threading.Thread(target=send)
    with reader.ask("fake: words tokens=100 delay=0.05") as stream:
        stream.until(20)
        sender.start()
        try:
            pair.signal(signal.SIGHUP)
            until(lambda: len(set(workers(pair)) - set(old)) == 2)
            stream.to_end()
        finally:
            enough.set()
            sender.join()
    assert stream.done
    assert stream.done["status"] == "complete"
    assert set(statuses) == {200}
    for person in pair._people:
        person.client.close()
    until(lambda: all(gone(worker) for worker in old))
    assert len(workers(pair)) == 2


def test_a_release_that_cannot_start_leaves_the_old_workers(pair: Server) -> None:
    old = workers(pair)
    pair.database.rows(
        "DELETE FROM django_migrations WHERE id = (SELECT MAX(id) FROM django_migrations WHERE app = 'chat')"
    )
    pair.signal(signal.SIGHUP)
    until(lambda: "The old ones go on." in pair.log.read_text("utf-8"))
    assert "The database lacks tables." in pair.log.read_text("utf-8")
    assert workers(pair) == old
    assert pair.person("alice").get("/").status_code == 200


def test_a_release_older_than_the_database_warns_and_serves(pair: Server) -> None:
    """Its workers may still be started during an upgrade. To go back for good takes the backup."""
    pair.database.rows(
        "INSERT INTO django_migrations (app, name, applied) VALUES ('chat', '9999_x', '2027-01-01')"
    )
    old = workers(pair)
    pair.signal(signal.SIGHUP)
    until(lambda: len(set(workers(pair)) - set(old)) == 2)
    log = pair.log.read_text("utf-8")
    assert log.count("The database is of a newer version, which has the migration 9999_x.") == 1
    assert pair.person("alice").get("/").status_code == 200


def test_sigterm_lets_replies_end_and_stops_everything(pair: Server) -> None:
    processes = workers(pair)
    with pair.person("alice").ask("fake: words tokens=60 delay=0.05") as stream:
        stream.until(20)
        pair.signal(signal.SIGTERM)
        stream.to_end()
    assert stream.done
    assert stream.done["status"] == "complete"
    assert pair.wait() == 0
    assert all(gone(process) for process in processes)


def test_nothing_outlives_its_pool(pair: Server) -> None:
    processes = workers(pair)
    pair.kill()
    until(lambda: all(gone(process) for process in processes))


def test_the_port_is_free_as_soon_as_the_pool_has_died(pair: Server) -> None:
    def is_free() -> bool:
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", pair.port))
            probe.listen()
            return True
        return False

    processes = workers(pair)
    with pair.person("alice").ask("fake: words tokens=4000 delay=0.05") as stream:
        stream.until(20)
        assert not is_free()
        pair.kill()
        until(is_free)
        assert not all(gone(process) for process in processes)  # the reply goes on until the grace is over


def test_the_log_of_all_processes_is_json(servers: Callable[..., Server]) -> None:
    server = servers(arguments=TWO, LOG_FORMAT="json", LOG_LEVEL="info")
    until(lambda: len(workers(server)) == 2)
    dead, _ = workers(server)
    os.kill(dead, signal.SIGKILL)
    server.signal(signal.SIGHUP)
    until(lambda: f"worker {dead} was ended by signal 9" in server.log.read_text("utf-8"))
    until(lambda: "replaced one by one" in server.log.read_text("utf-8"))
    logged = [line for line in server.log.read_text("utf-8").splitlines() if line.startswith("{")]
    assert "chatsite.server.worker_pool" in {json.loads(line)["logger"] for line in logged}


def test_replacements_in_a_row_leave_one_set_of_workers(pair: Server) -> None:
    old = workers(pair)
    for _ in range(3):
        pair.signal(signal.SIGHUP)
        time.sleep(0.5)
    until(lambda: all(gone(worker) for worker in old))
    until(lambda: len(workers(pair)) == 2)
    assert pair.person("alice").get("/").status_code == 200


def test_a_stop_during_a_replacement_stops_everything(pair: Server) -> None:
    """The signal may come while the process becomes the new code."""
    old = workers(pair)
    pair.signal(signal.SIGHUP)
    until(lambda: "replaced one by one" in pair.log.read_text("utf-8"))
    pair.signal(signal.SIGTERM)
    assert pair.wait() == 0
    assert all(gone(worker) for worker in old)


def test_a_first_worker_that_dies_before_it_serves_is_named() -> None:
    script = (
        "import logging, os, sys\n"
        "from chatsite.server.worker_pool import WorkerPool\n"
        "logging.basicConfig()\n"
        "sys.exit(WorkerPool(os.pipe(), 2, lambda *_: os.kill(os.getpid(), 9)).run())\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 1
    assert re.search(r"ERROR.*:worker \d+ was ended by signal 9 before it served\.$", ended.stderr.strip())


def test_a_signal_just_before_the_new_code_is_not_lost() -> None:
    script = (
        "import logging, os, signal, sys, types\n"
        "from chatsite.server.worker_pool import WorkerPool\n"
        "pool = WorkerPool(os.pipe(), 2, None)\n"
        "pool._trial = types.SimpleNamespace(poll=lambda: 0)\n"
        "logging.shutdown = lambda: os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.argv = ['-c', 'import signal; print(*signal.sigpending())']\n"
        "pool.run()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == (f"{signal.SIGTERM!s}\n", "")


def test_a_signal_to_a_worker_that_begins_is_not_lost() -> None:
    script = (
        "import os, signal\n"
        "from chatsite.server.worker_pool import WorkerPool\n"
        "set_fd = signal.set_wakeup_fd\n"
        "late = lambda fd: (set_fd(fd), fd == -1 and os.kill(os.getpid(), signal.SIGTERM))\n"
        "signal.set_wakeup_fd = late\n"
        "WorkerPool(os.pipe(), 1, lambda *_: os.write(1, b'serves')).run()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (ended.stdout, "was ended by signal 15 before it served" in ended.stderr) == ("", True)


@pytest.mark.parametrize("count", ["0", "257", "-1", "many", "1.5", "²"])
def test_other_numbers_of_workers_are_refused(count: str) -> None:
    with pytest.raises(CommandError, match="write auto, or a whole number from 1 to 256"):
        Command().create_parser("manage.py", "serve").parse_args([f"--workers={count}"])


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (4, 4), (16, 4)])
def test_auto_is_one_worker_a_core_and_at_most_four_with_sqlite(
    monkeypatch: pytest.MonkeyPatch, cores: int, workers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    options = Command().create_parser("manage.py", "serve").parse_args(["--workers", "auto"])
    assert options.workers == workers


def test_more_workers_than_sqlite_carries_start_with_a_warning(servers: Callable[..., Server]) -> None:
    assert "use PostgreSQL" not in servers(arguments=TWO).log.read_text()
    assert servers(arguments=("--workers", "5")).log.read_text().count("use PostgreSQL (DATABASE_URL)") == 1


@pytest.mark.parametrize("arguments", ["", "--workers 1"])
def test_a_socket_of_systemd_is_served(
    servers: Callable[..., Server], arguments: str, tmp_path: Path
) -> None:
    """systemd passes it as descriptor 3, to the process whose id it names."""
    server = servers()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        script = f"exec 3<&{listening.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; exec "
        script += f"{sys.executable} manage.py serve {arguments}"
        started = subprocess.Popen(
            ["bash", "-c", script], cwd=ROOT, env=server.env, pass_fds=(listening.fileno(),)
        )
    try:
        response = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=60, trust_env=False)
        assert response.json() == {"status": "alive"}
    finally:
        started.terminate()
        assert started.wait(60) == 0
