"""The folder of several workers: what ended ones counted is kept, and folders that nobody uses go."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from chat.telemetry.metrics import shared_files

KEY = mmap_key("chat_x", "chat_x_total", [], [], "")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path
    monkeypatch.setenv(shared_files.METRICS_FOLDER_VARIABLE, "")
    shared_files.choose()
    shared_files.prepare()
    found = shared_files.folder()
    assert found
    return found


def write(path: Path, value: float) -> None:
    file = MmapedDict(str(path))
    file.write_value(KEY, value, 0.0)
    file.close()


def value(path: Path) -> float:
    ((_, found, *_),) = MmapedDict.read_all_values_from_file(str(path))
    return found


def ended_process() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_counters_of_ended_processes_are_added_up(own: Path) -> None:
    for number in (3, 4):
        pid = ended_process()
        write(own / f"counter_{pid}.db", number)
        write(own / f"gauge_livesum_{pid}.db", 1)
        with shared_files.reading(own):
            assert not list(own.glob(f"*_{pid}.db"))
    assert value(own / "counter_ended.db") == 7


def test_a_live_processs_counts_stay_its_own(own: Path) -> None:
    write(own / f"counter_{os.getpid()}.db", 3)
    with shared_files.reading(own):
        assert value(own / f"counter_{os.getpid()}.db") == 3
        assert not (own / "counter_ended.db").exists()


def test_space_on_the_disk_is_reserved(own: Path) -> None:
    for kind in shared_files.METRIC_KINDS:
        assert (own / f"{kind}_{os.getpid()}.db").stat().st_blocks * 512 >= shared_files.FILE_BYTES


def test_a_folder_goes_when_nobody_uses_it(own: Path) -> None:
    other = own.parent / "other"
    other.mkdir()
    held = subprocess.Popen(
        [sys.executable, "-c", "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_SH);"
         " print(flush=True); sys.stdin.read()", str(other / "used.lock")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert held.stdout
    held.stdout.readline()
    shared_files.prepare()
    assert other.exists()
    held.communicate()
    shared_files.prepare()
    assert not other.exists()
    assert own.exists()
