"""The units of deploy/systemd: checked by systemd's own tools, their commands run as systemd runs them."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import missing
from tests.deploy.units import FOLDER, command, unit, written
from tests.support.databases import ROOT
from tests.support.server import Server
from tests.support.waiting import until

DAY = 86_400
OLD = "chat-2026-01-01T000000.zip"


@pytest.fixture
def analyze() -> str:
    found = shutil.which("systemd-analyze")
    if found is None:
        missing("systemd-analyze", "install the package systemd")
    assert found
    return found


def test_systemd_understands_the_units(analyze: str, tmp_path: Path) -> None:
    units = [str(path) for path in written(tmp_path)]
    done = subprocess.run(
        [analyze, "verify", "--man=no", "--recursive-errors=no", *units], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["chat.service", "chat-backup.service"])
def test_the_services_are_confined(analyze: str, name: str, tmp_path: Path) -> None:
    written(tmp_path)
    threshold = [analyze, "security", "--offline=true", "--threshold=20", str(tmp_path / name)]
    done = subprocess.run(threshold, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def allowed_calls(analyze: str, name: str) -> set[str]:
    """The system calls that the filters of a unit allow, by the sets of this machine's systemd."""
    shown = subprocess.run([analyze, "syscall-filter"], capture_output=True, text=True, check=True).stdout
    sets: dict[str, list[str]] = {}
    for line in shown.splitlines():
        if line.startswith("@"):
            sets[line.strip()] = members = []
        elif line.strip() and not line.strip().startswith("#"):
            members.append(line.strip())

    def calls(names: list[str]) -> set[str]:
        return {call for each in names for call in (calls(sets[each]) if each in sets else {each})}

    allowed: set[str] = set()
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        key, _, value = line.partition("=")
        if key == "SystemCallFilter":
            denied = value.startswith("~")
            found = calls(value.removeprefix("~").split())
            allowed = allowed - found if denied else allowed | found
    return allowed


def test_the_reader_of_uploaded_files_may_isolate_itself(analyze: str) -> None:
    """Debian 12's systemd has the calls of Landlock in none of its sets; refused, they isolate nothing."""
    allowed = allowed_calls(analyze, "chat.service")
    assert "openat" in allowed
    assert "chroot" not in allowed
    assert {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"} <= allowed


class Service:
    """chat.service: its command with the socket of chat.socket as descriptor 3."""

    def __init__(self, server: Server) -> None:
        host, _ = unit("chat.socket")["Socket"]["ListenStream"].split(":")
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listening.bind((host, server.port))
        self._listening.listen(int(unit("chat.socket")["Socket"]["Backlog"]))
        self.server = server
        start = command("chat.service", "ExecStart")
        start[start.index("auto")] = "2"  # a machine with many cores takes long to start them all
        script = f'exec 3<&{self._listening.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; exec "$@"'
        with server.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", script, "bash", *start],
                cwd="/",
                env=server.env,
                pass_fds=(self._listening.fileno(),),
                stdout=log,
                stderr=log,
            )
        ready = f"{server.url}/readyz"  # 503 as long as the database is slow
        until(lambda: httpx.get(ready, timeout=120, trust_env=False).status_code == 200, 180)

    def reload(self) -> None:
        kill, *arguments = command("chat.service", "ExecReload")
        subprocess.run([kill, *[str(self.process.pid) if each == "$MAINPID" else each for each in arguments]])

    def workers(self) -> set[str]:
        rows = self.server.database.rows("SELECT id FROM chat_worker")
        return {str(row[0]) for row in rows}

    def end(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._listening.close()


@pytest.fixture
def service(unstarted: Server) -> Iterator[Service]:
    started = Service(unstarted)
    yield started
    started.end()


def test_the_service_serves_the_socket_and_reloads_its_workers(service: Service) -> None:
    until(lambda: len(service.workers()) == 2)
    old = service.workers()
    with service.server.person("alice").ask("fake: words tokens=60 delay=0.05") as stream:
        stream.until(20)
        service.reload()
        until(lambda: len(service.workers() - old) == 2)
        stream.to_end()
    assert stream.done
    assert stream.done["status"] == "complete"


def test_a_stop_of_the_first_process_lets_replies_end(service: Service) -> None:
    """KillMode=mixed: systemd sends SIGTERM to that one only. Twice, it would cut the replies."""
    assert unit("chat.service")["Service"]["KillMode"] == "mixed"
    with service.server.person("alice").ask("fake: words tokens=60 delay=0.05") as stream:
        stream.until(20)
        service.process.terminate()
        stream.to_end()
    assert stream.done
    assert stream.done["status"] == "complete"
    assert service.process.wait(60) == 0


def test_the_backup_is_made_and_old_ones_go_after_it(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    other, old = folder / "notes.txt", folder / OLD
    for path in (other, old):
        path.write_text("old")
        os.utime(path, times=(time.time() - 20 * DAY,) * 2)
    places = {"/var/backups/chat": str(folder)}
    for key in ("ExecStart", "ExecStartPost"):
        subprocess.run(command("chat-backup.service", key, places), env=server.env, cwd="/", check=True)
    kept = sorted(path.name for path in folder.iterdir())
    assert len(kept) == 2
    assert "notes.txt" in kept
    assert OLD not in kept
    checked = subprocess.run(
        [*command("chat.service", "ExecStart")[:2], "check", "--backup", str(folder / kept[0])],
        env=server.env, cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
