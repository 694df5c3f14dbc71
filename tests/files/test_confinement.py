"""The child processes that read uploaded files: what they can't do, and how one ends that runs wild."""

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chat.files import confinement
from chat.files.confinement import ChildLimits, Crashed, Expired, TooMuchOutput, run_confined, stream_confined
from tests.files.deeds import DEEDS

# Deeds that containers and kernels forbid in other ways, too.
PRIVILEGED = {
    *(
        "MPTCP",
        "packets",
        "userfaultfd",
        "io_uring",
        "name spaces",
        "keys",
        "trace",
        "memory",
        "POSIX messages",
    ),
    *("setxattr", "removexattr"),
}
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


def test_the_child_has_no_environment(tmp_path: Path) -> None:
    assert run(tmp_path, "print(dict(os.environ))") in (b"{}\n", b"{'LC_CTYPE': 'C.UTF-8'}\n")


def test_a_child_is_bound_in_memory_and_in_files(tmp_path: Path) -> None:
    code = "try: bytearray(2_000_000_000)\nexcept MemoryError: print('bound')"
    assert run(tmp_path, code) == b"bound\n"
    code = "import resource\nprint(resource.getrlimit(resource.RLIMIT_FSIZE))"
    assert run(tmp_path, code) == b"(0, 0)\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_a_child_of_root_is_nobody_who_can_still_read(tmp_path: Path) -> None:
    """Only the right to read is kept; `tmp_path` is a folder that nobody else can enter."""
    code = "print(os.getuid(), os.geteuid(), os.getgid(), os.getegid(), open(__file__).read(6))"
    assert run(tmp_path, code) == b"65534 65534 65534 65534 import\n"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Return the outcomes of each deed without the confinement, and with it."""
    return {
        "free": attempted(tmp_path_factory.mktemp("free"), is_confined=False),
        "confined": attempted(tmp_path_factory.mktemp("confined"), is_confined=True),
    }


def attempted(folder: Path, *, is_confined: bool) -> dict[str, str]:
    for name in ("file", "removed", "renamed"):
        (folder / name).write_text("a secret")
    with suppress(OSError):  # a file system without attributes
        os.setxattr(folder / "file", "user.there", b"1")
    program = Path(shutil.copy(Path(__file__).with_name("deeds.py"), folder))
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX) as local,
        tempfile.TemporaryFile() as file,
    ):
        local.bind(f"{folder}/socket")
        local.listen()
        file.write(b"the file")
        file.seek(0)
        arguments = [str(folder), str(listener.getsockname()[1])]
        if is_confined:
            output = run_confined(program, file, LIMITS, *arguments)
        else:
            command = [sys.executable, "-I", str(program), *arguments]
            output = subprocess.run(command, stdin=file, stdout=subprocess.PIPE, check=True).stdout
    return dict(json.loads(output))


@pytest.mark.parametrize("deed", DEEDS)
def test_a_file_that_takes_control_reaches_nothing(deed: str, outcomes: dict[str, dict[str, str]]) -> None:
    if outcomes["free"][deed] != "done":
        pytest.skip("this system does not allow it without the confinement either")
    assert outcomes["confined"][deed] == "PermissionError"


def test_most_deeds_can_be_done_without_the_confinement(outcomes: dict[str, dict[str, str]]) -> None:
    undone = {deed for deed, outcome in outcomes["free"].items() if outcome != "done"}
    assert undone <= PRIVILEGED


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
