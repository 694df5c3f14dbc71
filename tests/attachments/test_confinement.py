"""The child processes that read uploaded files: what they can't do, and how one ends that runs wild."""

import ctypes
import os
import resource
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from chat.attachments import confinement
from chat.attachments.confined.process import ASK_VERSION, CREATE_RULESET
from chat.attachments.confinement import ChildLimits, Expired, run_confined

NEEDED_VERSION = 6  # of Landlock: signals are the latest that it forbids
LIMITS = ChildLimits(address_space_bytes=500_000_000, cpu_seconds=5, wall_seconds=20, output_bytes=1_000_000)


def write_program(path: Path, code: str) -> None:
    body = indent(code, "    ")
    path.write_text(f"import os, socket, sys\ndef main():\n{body}\nif __name__ == '__main__': main()")


def run(folder: Path, code: str, limits: ChildLimits = LIMITS) -> bytes:
    write_program(folder / "program.py", code)
    with tempfile.TemporaryFile() as file:
        file.write(b"the file")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(confinement, "PROJECT", folder)
            return run_confined("program", file, limits, "first", "second")


def test_a_child_reads_the_file_from_its_start(tmp_path: Path) -> None:
    code = "print(sys.argv[1:], sys.stdin.read(), __name__)"
    assert run(tmp_path, code) == b"['first', 'second'] the file program\n"


def test_a_child_that_writes_without_end_is_cut_off(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert run(tmp_path, "while True: sys.stdout.buffer.write(bytes(10**6))") == b""
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
    ],
)
def test_the_child_can_do_nothing_else(deed: str, tmp_path: Any) -> None:
    if deed == "os.fork()" and os.geteuid() == 0:
        pytest.skip("the limit of processes does not bind the superuser")
    write_program(tmp_path / "deed.py", deed)
    command = [sys.executable, "-I", str(confinement.CONFINED_PROGRAM), str(tmp_path), "deed"]
    command += ["1000000000", "10"]
    done = subprocess.run(command, capture_output=True, env={}, check=False, cwd=tmp_path)
    assert done.returncode != 0
    assert b"deed.py" in done.stderr


@pytest.mark.parametrize(
    "deed",
    [
        "open(f'/proc/{os.getppid()}/environ', 'rb')",
        "open(f'/proc/{os.getppid()}/mem', 'rb')",
        "os.kill(os.getppid(), 0)",
        "open('secret', 'rb')",
        "os.unlink('secret')",
        "os.truncate('secret', 0)",
        "os.rename('secret', 'other')",
        "os.mkdir('folder')",
        "os.execv('/bin/true', ['true'])",
        "socket.create_connection(('127.0.0.1', int(sys.argv[1])))",
    ],
)
def test_a_child_that_is_taken_over_reaches_nothing(deed: str, tmp_path: Path) -> None:
    if ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, ASK_VERSION) < NEEDED_VERSION:
        pytest.skip(f"this kernel has no Landlock of version {NEEDED_VERSION}")
    write_program(tmp_path / "deed.py", deed)
    (tmp_path / "secret").write_text("a secret")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        free = subprocess.run(
            [sys.executable, "-I", str(tmp_path / "deed.py"), port],
            check=False,
            cwd=tmp_path,
            capture_output=True,
        )
        assert free.returncode == 0, free.stderr  # it can be done without the confinement
        (tmp_path / "secret").write_text("a secret")
        for made in ("other", "folder"):
            path = tmp_path / made
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        command = [
            sys.executable,
            "-I",
            str(confinement.CONFINED_PROGRAM),
            str(tmp_path),
            "deed",
            "1000000000",
            "10",
            port,
        ]
        done = subprocess.run(command, capture_output=True, env={}, check=False, cwd=tmp_path)
    assert b"PermissionError" in done.stderr
    assert (tmp_path / "secret").read_text() == "a secret"
