"""The folder in which several workers keep their metrics, as prometheus_client's multi-process mode does.

Each worker writes its values into memory-mapped files, and whichever worker is asked reads those of all.
Counters go on from one worker to the next: the files of ended workers are added to `*_ended.db`. Their gauges
are dropped. Every process that uses the folder holds a shared lock, so that the next start can remove the
folders that nobody uses any more.
"""

import fcntl
import logging
import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

# The library's own; for the program that this process becomes.
METRICS_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# Space for about 1,000 series each. Reserved, because writing into a hole of a mapped file kills the process
# when the disk is full.
FILE_BYTES = 262_144
METRIC_KINDS = ("counter", "histogram", "gauge_livesum", "gauge_livemax")

logger = logging.getLogger(__name__)


def choose() -> None:
    """Name a folder for this process and those that it will start. None is made yet."""
    os.environ[METRICS_FOLDER_VARIABLE] = str(settings.DATA_DIR / "metrics" / uuid.uuid4().hex)


def forget() -> None:
    """Let this process keep its metrics in memory: it is the only one."""
    os.environ.pop(METRICS_FOLDER_VARIABLE, None)


def folder() -> Path | None:
    """Return the folder; None if this process is the only one."""
    name = os.environ.get(METRICS_FOLDER_VARIABLE)
    return Path(name) if name else None


def prepare() -> None:
    """Make the folder, hold its lock while this process and its forks live, and remove unused folders.

    Raises OSError: when it cannot be written.
    """
    own = folder()
    assert own is not None
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    held = os.open(own / "used.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(held, fcntl.LOCK_SH)
    reserve()
    for other in own.parent.iterdir():
        if other != own:
            _remove_unused(other)


def reserve() -> None:
    """Reserve the disk space of this process's files. Raises OSError: when the disk is full."""
    if own := folder():
        for kind in METRIC_KINDS:
            _reserve(own / f"{kind}_{os.getpid()}.db")


def _reserve(path: Path) -> None:
    with path.open("a+b") as file:
        if sys.platform == "linux":
            os.posix_fallocate(file.fileno(), 0, FILE_BYTES)
        elif file.tell() < FILE_BYTES:
            file.write(bytes(FILE_BYTES - file.tell()))


def _remove_unused(other: Path) -> None:
    try:
        lock = os.open(other / "used.lock", os.O_RDWR)
    except OSError:  # being made, or being removed
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    else:
        shutil.rmtree(other, ignore_errors=True)
    finally:
        os.close(lock)


@contextmanager
def reading(own: Path) -> Iterator[None]:
    """Hold off other readers, add up what ended workers counted, and read in the block."""
    with (own / "read.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            _fold_ended(own)
        except OSError as error:
            logger.warning("metrics of ended workers were not added up: %s", error.strerror)
        yield


def _fold_ended(own: Path) -> None:
    for file in sorted(own.glob("*_*.db")):
        kind, _, pid = file.stem.rpartition("_")
        if not pid.isdigit() or _is_alive(int(pid)):
            continue
        if not kind.startswith("gauge"):
            _add(file, own / f"{kind}_ended.db")
        file.unlink()


def _is_alive(pid: int) -> bool:
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True


def _add(file: Path, total: Path) -> None:
    """Add the values of `file` to those of `total`, which is replaced as a whole."""
    from prometheus_client.mmap_dict import MmapedDict

    new = total.with_suffix(".new")
    new.unlink(missing_ok=True)
    if total.exists():
        shutil.copyfile(total, new)
    _reserve(new)
    sums = MmapedDict(str(new))
    try:
        for key, value, *_ in MmapedDict.read_all_values_from_file(str(file)):
            before, _timestamp = sums.read_value(key)
            sums.write_value(key, before + value, 0.0)
    finally:
        sums.close()
    new.replace(total)
