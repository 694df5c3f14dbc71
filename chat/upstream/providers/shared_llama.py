"""The folder through which the workers of one site share one server of the local model.

It belongs to one start of the site. The process that forks the workers holds the lock of `site.lock`, and so
do they, until the last of them ends. The server waits for that lock, to end then too. No worker owns the
server, so it outlives them. While it runs it holds the lock of `<model>.lock`, and `<model>.json` has its
address and its key.
"""

import fcntl
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chat.db.locks import exclusive

MODEL_FOLDER_VARIABLE = "CHAT_LOCAL_MODEL_FOLDER"  # for the program that this process becomes
SITE_LOCK = "site.lock"


def prepare(parent: Path) -> None:
    """Make a folder, and hold its lock until the programs end that this process becomes by `exec`.

    Folders of sites that have ended are removed. Raises OSError: when nothing can be written.
    """
    parent.mkdir(mode=0o700, exist_ok=True)
    with exclusive(parent / "lock"):
        for other in parent.iterdir():
            if other.is_dir() and not _is_held(other / SITE_LOCK):
                shutil.rmtree(other, ignore_errors=True)
        folder = parent / uuid.uuid4().hex
        folder.mkdir(mode=0o700)
        os.set_inheritable(_lock(folder / SITE_LOCK), True)
    os.environ[MODEL_FOLDER_VARIABLE] = str(folder)


def forget() -> None:
    """Let this process have a server of its own: it is the only one."""
    os.environ.pop(MODEL_FOLDER_VARIABLE, None)


def prepared() -> Path | None:
    """Return the folder of this process's site; None if this process is the only one."""
    name = os.environ.get(MODEL_FOLDER_VARIABLE)
    return Path(name) if name else None


class SharedServer:
    """The server of one model file with these settings, for all workers of the site."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:16]
        self.site_lock = folder / SITE_LOCK
        self._lock, self._start_lock = folder / f"{digest}.lock", folder / f"{digest}.start"
        self._state = folder / f"{digest}.json"

    def running(self) -> tuple[str, str] | None:
        """Return the base URL and the key of the server; None if none runs."""
        try:
            base_url, key = json.loads(self._state.read_bytes())
        except FileNotFoundError:
            return None
        return (base_url, key) if _is_held(self._lock) else None

    @contextmanager
    def starting(self) -> Iterator[int]:
        """Keep the other workers from a start. Yield the descriptor of the lock that the server must inherit.

        It may be entered while a server runs, which the caller asks for again.
        """
        with exclusive(self._start_lock):
            lock = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                yield lock
            finally:
                os.close(lock)

    def publish(self, base_url: str, key: str) -> None:
        """Write the address and the key of the new server, for this user of the machine alone."""
        new = self._state.with_suffix(".new")
        new.unlink(missing_ok=True)
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump([base_url, key], file)
        new.replace(self._state)

    def withdraw(self) -> bool:
        """Remove what a server that has ended had published. Return False if none had."""
        existed = self._state.exists()
        self._state.unlink(missing_ok=True)
        return existed


def _lock(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _is_held(path: Path) -> bool:
    """Return True while a process holds this lock. Several may ask at once, so they share it."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(file)
