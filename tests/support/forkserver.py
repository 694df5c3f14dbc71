"""Processes of `manage.py`, forked from one that has imported their libraries.

A start takes a third of the processor time (0.3 s, not 0.9), and a test of the engine starts one or more.

Each runs `manage.py` from its first line, with an environment of its own: every setting, and all modules
of ours that may read one, are read after the fork.
https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds that a command may take; these machines are busy
FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(["tests.support.preloaded"])


def serve(
    env: dict[str, str], log: Path, *, afresh: bool = False, arguments: tuple[str, ...] = ()
) -> BaseProcess:
    """Start a server and return its process. Its output is appended to `log`.

    `afresh`: in a new interpreter, for tests of its memory or of the modules that it loads.
    """
    return _start(env, ("serve", *arguments), (log, log), afresh=afresh)


def run(
    env: dict[str, str], arguments: tuple[str, ...], timeout: float = PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Run another command to its end, as `subprocess.run` does.

    Not for a command that reads its input, the way it was started, or the modules that it has loaded.
    """
    with tempfile.TemporaryDirectory() as folder:
        output = (Path(folder, "stdout"), Path(folder, "stderr"))
        process = _start(env, arguments, output)
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(arguments, timeout)
        stdout, stderr = (file.read_text("utf-8") for file in output)
        return subprocess.CompletedProcess(arguments, process.exitcode, stdout, stderr)


def _start(
    env: dict[str, str], arguments: tuple[str, ...], output: tuple[Path, Path], *, afresh: bool = False
) -> BaseProcess:
    process = FORKSERVER.Process(target=_become, args=(env, arguments, output, afresh), daemon=True)
    with _no_main():
        process.start()
    return process


def _become(env: dict[str, str], arguments: tuple[str, ...], output: tuple[Path, Path], afresh: bool) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(ROOT)
    for descriptor, path in zip((1, 2), output, strict=True):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.dup2(file, descriptor)
        os.close(file)
    sys.argv = ["manage.py", *arguments]
    if afresh:
        os.execv(sys.executable, [sys.executable, *sys.argv])
    runpy.run_path("manage.py", run_name="__main__")


@contextmanager
def _no_main() -> Iterator[None]:
    """Keep each child from importing the test runner first."""
    main = vars(sys.modules["__main__"])
    hidden = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.update(__file__=None, __spec__=None)
    try:
        yield
    finally:
        main.update(hidden)
