"""A file lock that lives as long as its process, so a restart knows at once that the old process is dead.

Each worker locks a file of its own in DATA_DIR. The kernel releases the lock however the process ends. So a
process that shares the directory need not wait for a silent period, and a process id that was reused or is
that of another container cannot mislead it.
"""

import fcntl
import os
import uuid
from pathlib import Path


class ProcessLock:
    """The lock of this process, held from creation to `release`."""

    def __init__(self, folder: Path, worker: uuid.UUID) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / str(worker)
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._file)


def is_locked(folder: Path, worker: uuid.UUID) -> bool | None:
    """Return True if the worker's process holds its lock; None if its file is not in this folder.

    True if the file cannot be opened (no descriptor left, no permission), because that proves no death.
    """
    try:
        file = os.open(folder / str(worker), os.O_RDWR)
    except FileNotFoundError:
        return None
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def remove(folder: Path, worker: uuid.UUID) -> None:
    (folder / str(worker)).unlink(missing_ok=True)
