"""Server processes by fork, from one that has imported their libraries: half of what a start costs.

Each is `manage.py serve` from its first line, with an environment of its own: every setting, and all modules
of ours that may read one, are read after the fork.
https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
"""

import multiprocessing
import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOTHER = multiprocessing.get_context("forkserver")
MOTHER.set_forkserver_preload(["tests.support.preloaded"])


def serve(
    env: dict[str, str], log: Path, *, afresh: bool = False, arguments: tuple[str, ...] = ()
) -> BaseProcess:
    """A server that was just started. It writes what it says to the end of `log`.

    `afresh`: with nothing in its memory but what it loads itself, for who measures that.
    """
    process = MOTHER.Process(target=_become, args=(env, str(log), afresh, arguments), daemon=True)
    with _no_main():
        process.start()
    return process


def _become(env: dict[str, str], log: str, afresh: bool, arguments: tuple[str, ...]) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(ROOT)
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for descriptor in (1, 2):
        os.dup2(file, descriptor)
    os.close(file)
    sys.argv = ["manage.py", "serve", *arguments]
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
