"""A lock that lives as long as its process: how a restart knows at once that its predecessor is dead.

Each worker holds a lock on a file of its own in DATA_DIR. The kernel lets go of it however the process ends,
so whoever shares the directory need not wait for the heartbeat to grow old, and no process number that was
given out again, nor a container's, can deceive it.
"""

import fcntl
import os
import uuid
from pathlib import Path


class Lifeline:
    """This process's lock."""

    def __init__(self, folder: Path, worker: uuid.UUID) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / str(worker)
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._file)


def is_known_dead(folder: Path, worker: uuid.UUID) -> bool:
    """True where the worker's file is here and nobody holds it; False where that cannot be told."""
    try:
        file = os.open(folder / str(worker), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def forget(folder: Path, worker: uuid.UUID) -> None:
    (folder / str(worker)).unlink(missing_ok=True)
