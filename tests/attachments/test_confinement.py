"""The child processes that read uploaded files: what they can't do, and how one ends that runs wild."""

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chat.attachments import confinement
from chat.attachments.confinement import Expired, Limits, run_confined

LIMITS = Limits(address_space_bytes=500_000_000, cpu_seconds=5, wall_seconds=20, output_bytes=1_000_000)


def run(folder: Path, code: str, limits: Limits = LIMITS) -> bytes:
    program = folder / "program.py"
    program.write_text(code)
    with tempfile.TemporaryFile() as file:
        file.write(b"the file")
        return run_confined(program, file, limits, "first", "second")


def test_a_child_reads_the_file_from_its_start(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv[1:], sys.stdin.read(), __name__)"
    assert run(tmp_path, code) == b"['first', 'second'] the file __main__\n"


def test_a_child_that_writes_without_end_is_cut_off(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert run(tmp_path, "import sys\nwhile True: sys.stdout.buffer.write(bytes(10**6))") == b""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


@pytest.mark.parametrize("code", ["import time; time.sleep(60)", "while True: pass"])
def test_a_child_that_takes_too_long_is_ended(tmp_path: Path, code: str) -> None:
    limits = replace(LIMITS, wall_seconds=0.5) if "sleep" in code else replace(LIMITS, cpu_seconds=1)
    with pytest.raises(Expired):
        run(tmp_path, code, limits)


@pytest.mark.parametrize(
    "deed",
    [
        "bytearray(2_000_000_000)",
        "open('attachment-test', 'wb', buffering=0).write(b'x')",
        "os.fork()",
        "print(os.environ['PATH'])",
        "import chat",
    ],
)
def test_the_child_can_do_nothing_else(deed: str, tmp_path: Any) -> None:
    if deed == "os.fork()" and os.geteuid() == 0:
        pytest.skip("the limit of processes does not bind the superuser")
    program = tmp_path / "deed.py"
    program.write_text(f"import os; {deed}")
    command = [sys.executable, "-I", str(confinement.START), str(program), "1000000000", "10"]
    done = subprocess.run(command, capture_output=True, env={}, check=False, cwd=tmp_path)
    assert done.returncode != 0
    assert b"deed.py" in done.stderr
