"""Two releases in folders of their own, as `docs/operating.md` installs them, and the server."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.deploy.fronts import Front
from tests.support.databases import ROOT
from tests.support.processes import shown
from tests.support.server import Server
from tests.upgrade.next_release import migrations

PARTS = ("chat", "chatsite", "locale", "static", "templates")
STARTING = 90.0  # seconds
ADDED = "\n.next-release { color: inherit }\n"


def release(folder: Path, *, upgraded: bool) -> Path:
    """Return a folder with the code of today; `upgraded`: with further migrations and another style sheet."""
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    shutil.copy(ROOT / "manage.py", folder)
    if upgraded:
        for file in Path(migrations.__file__).parent.glob("tomorrow*.py"):
            shutil.copy(file, folder / "chat" / "migrations")
        sheet = folder / "static" / "css" / "chat.css"
        sheet.write_text(sheet.read_text("utf-8") + ADDED, "utf-8")
    return folder


class Site:
    """`manage.py serve --prepare --workers N` of the release that the link `current` leads to."""

    def __init__(self, server: Server, folder: Path, workers: int, front: Front | None) -> None:
        self.server, self._workers, self._front = server, workers, front
        self.url = front.url if front else server.url
        if front:
            server.env |= {"SITE_URL": front.url, "TRUSTED_PROXY": "1"}
        self._current = folder / "current"
        self._releases = [
            release(folder / name, upgraded=upgraded) for name, upgraded in (("one", False), ("two", True))
        ]

    def start(self) -> None:
        """Raises TimeoutError: when not all workers serve in time."""
        self._link(self._releases[0])
        log = self.server.log.open("ab")
        command = [sys.executable, f"{self._current}/manage.py", "serve", "--prepare"]
        self._process = subprocess.Popen(
            [*command, "--workers", str(self._workers)],
            env=self.server.env,
            cwd=self._current.parent,
            stdout=log,
            stderr=log,
        )
        self._wait(lambda: self.workers() >= self._workers)
        if self._front:
            self._front.start()

    def workers(self) -> int:
        """Return how many processes have a row in the database, also old ones that finish their replies."""
        with suppress(Exception):  # no table yet
            return int(self.server.database.value("SELECT COUNT(*) FROM chat_worker"))
        return 0

    def reload(self) -> None:
        """Have the workers replaced, and wait until the new ones serve."""
        failures = self.log().count("The old ones go on.")
        before = self._pids()
        self._process.send_signal(signal.SIGHUP)
        self._wait(
            lambda: len(self._pids() - before) >= self._workers or self.log().count("go on.") > failures
        )
        if self.log().count("The old ones go on.") > failures:
            raise RuntimeError(self.log()[-2000:])

    def upgrade(self) -> None:
        self._link(self._releases[1])
        self.reload()

    def log(self) -> str:
        return self.server.log.read_text("utf-8")

    def end(self) -> int:
        """SIGTERM; return the exit code."""
        if self._front:
            self._front.end()
        self._process.terminate()
        try:
            return self._process.wait(STARTING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _pids(self) -> set[str]:
        """Return the workers, and the process that tries a reload."""
        return set(_children(self._process.pid))

    def _link(self, release: Path) -> None:
        new = self._current.with_suffix(".new")
        new.symlink_to(release)
        os.replace(new, self._current)

    def _wait(self, condition) -> None:  # type: ignore[no-untyped-def]
        give_up = time.monotonic() + STARTING
        while not condition():
            if time.monotonic() > give_up or self._process.poll() is not None:
                raise TimeoutError(self.log()[-2000:])
            time.sleep(0.1)


def _children(pid: int) -> list[str]:
    return shown(Path(f"/proc/{pid}/task/{pid}/children")).split()
