"""The child processes that read uploaded files: what they can't do, and how one ends that runs wild."""

import ctypes
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chat.attachments import confinement
from chat.attachments.confined.process import ASK_VERSION, CREATE_RULESET
from chat.attachments.confinement import (
    CONFINED_PROGRAM,
    ChildLimits,
    Crashed,
    Expired,
    TooMuchOutput,
    run_confined,
    stream_confined,
)

NEEDED_VERSION = 6  # of Landlock: signals are the latest that it forbids
LIMITS = ChildLimits(address_space_bytes=500_000_000, cpu_seconds=5, wall_seconds=20, output_bytes=1_000_000)


def program_of(folder: Path, code: str) -> Path:
    program = folder / "program.py"
    program.write_text(f"import os, socket, sys, time\n{code}")
    return program


def run(folder: Path, code: str, limits: ChildLimits = LIMITS) -> bytes:
    with tempfile.TemporaryFile() as file:
        file.write(b"the file")
        return run_confined(program_of(folder, code), file, limits, "first", "second")


def test_a_child_reads_the_file_from_its_start(tmp_path: Path) -> None:
    code = "print(sys.argv[1:], sys.stdin.read(), __name__)"
    assert run(tmp_path, code) == b"['first', 'second'] the file __main__\n"


@pytest.mark.parametrize("size", [5_000, 300_000])
@pytest.mark.parametrize("buffering", [0, 8_192, 131_072])
@pytest.mark.parametrize("before", ["written", "head", "all"])
def test_a_child_reads_the_whole_file_whatever_its_buffer_holds(
    tmp_path: Path, size: int, buffering: int, before: str
) -> None:
    """The descriptor stands behind the buffer, where a seek within the buffer leaves it."""
    content = bytes(range(256)) * (size // 256) + b"end"
    with tempfile.TemporaryFile(buffering=buffering) as file:
        file.write(content)
        if before != "written":
            file.seek(0)
            file.read(12 if before == "head" else -1)
        program = program_of(tmp_path, "sys.stdout.buffer.write(sys.stdin.buffer.read())")
        assert run_confined(program, file, LIMITS) == content
        file.seek(0)
        assert file.read() == content


def test_a_child_that_writes_without_end_is_cut_off(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert run(tmp_path, "while True: sys.stdout.buffer.write(bytes(10**6))") == b""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


@pytest.mark.parametrize("code", ["time.sleep(60)", "while True: pass"])
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
    program = program_of(tmp_path, deed)
    command = [sys.executable, "-I", str(CONFINED_PROGRAM), str(program), "1000000000", "10"]
    done = subprocess.run(command, capture_output=True, env={}, check=False, cwd=tmp_path)
    assert done.returncode != 0
    assert b"program.py" in done.stderr


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
    program = program_of(tmp_path, deed)
    (tmp_path / "secret").write_text("a secret")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        free = subprocess.run(
            [sys.executable, "-I", str(program), port],
            check=False,
            cwd=tmp_path,
            capture_output=True,
        )
        assert free.returncode == 0, free.stderr  # it can be done without the confinement
        (tmp_path / "secret").write_text("a secret")
        for made in ("other", "folder"):
            path = tmp_path / made
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        command = [sys.executable, "-I", str(CONFINED_PROGRAM), str(program), "1000000000", "10", port]
        done = subprocess.run(command, capture_output=True, env={}, check=False, cwd=tmp_path)
    assert b"PermissionError" in done.stderr
    assert (tmp_path / "secret").read_text() == "a secret"


def lines(
    folder: Path, code: str, limits: ChildLimits = LIMITS, **options: Any
) -> Generator[bytes, None, None]:
    with tempfile.TemporaryFile() as file:
        yield from stream_confined(program_of(folder, code), file, limits, line_bytes=1_000, **options)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (b"", []),
        (b"one", [b"one"]),
        (b"one\n", [b"one"]),
        (b"\none\n\ntwo", [b"", b"one", b"", b"two"]),
        (b"x" * 1_000 + b"\n" + b"y" * 1_000, [b"x" * 1_000, b"y" * 1_000]),
        (b"one\n" * 40_000, [b"one"] * 40_000),
    ],
    ids=range(6),
)
def test_a_childs_lines_are_the_same_in_any_pieces(
    tmp_path: Path, written: bytes, expected: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"sys.stdout.buffer.write({written!r})"
    assert list(lines(tmp_path, code)) == expected
    monkeypatch.setattr(confinement, "PIECE_BYTES", 7)
    assert list(lines(tmp_path, code)) == expected


def test_a_line_arrives_before_the_child_ends(tmp_path: Path) -> None:
    found = lines(tmp_path, "print('begun', flush=True); time.sleep(60)")
    assert next(found) == b"begun"
    found.close()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("sys.stdout.write('x' * 1_001)", TooMuchOutput),
        ("while True: print('x' * 999)", TooMuchOutput),
        ("while True: pass", Expired),
        ("time.sleep(60)", Expired),
        ("while True: print(flush=True); time.sleep(.01)", Expired),
        ("os.close(1); time.sleep(60)", Expired),
        ("bytearray(2_000_000_000)", Crashed),
        ("os._exit(3)", Crashed),
        ("os.abort()", Crashed),
    ],
)
def test_what_ended_a_child_is_told(
    tmp_path: Path, code: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "EXIT_SECONDS", 0.5)
    limits = replace(LIMITS, cpu_seconds=1, wall_seconds=2)
    found = lines(tmp_path, f"print('begun', flush=True)\n{code}", limits)
    assert next(found) == b"begun"
    with pytest.raises(error):
        list(found)


def test_a_child_is_ended_by_what_the_beat_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(Exception):
        pass

    monkeypatch.setattr(confinement, "BEAT_SECONDS", 0.01)
    is_stopped = threading.Event()

    def beat() -> None:
        if is_stopped.is_set():
            raise Stopped

    found = lines(tmp_path, "print(os.getpid(), flush=True); time.sleep(60)", beat=beat)
    child = int(next(found))
    is_stopped.set()
    with pytest.raises(Stopped):
        next(found)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
