"""A file lock that lives as long as its process: how a restart knows at once that its predecessor is dead.

Each worker locks a file of its own in DATA_DIR. The kernel releases the lock however the process ends, so a
process that shares the directory need not wait for a silent period, and neither a reused process number nor
a container's can mislead it.
"""

import fcntl
import os
import uuid
from pathlib import Path


class ProcessLock:
    """This process's lock."""

    def __init__(self, folder: Path, worker: uuid.UUID) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / str(worker)
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._file)


def is_locked(folder: Path, worker: uuid.UUID) -> bool | None:
    """Whether the worker's process holds its lock; None where its file is not in this folder.

    A file that cannot be looked at (no descriptor left, no right) proves no death.
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
