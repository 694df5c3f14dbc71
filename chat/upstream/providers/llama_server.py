"""llama.cpp's server as a process of its own; `local` starts this file, nothing imports it.

Inside the web server's process xllamacpp 2026.10 held the interpreter lock while it loaded (0.3 s in which
nobody else was served), hung in most ends that met it writing, and could take every conversation along.

Reads one line of JSON from its input: the wish. Writes one line: the address, or nothing where the model
cannot be loaded. Ends when its input does: when whoever started it closes that, or is gone.
"""

import json
import os
import signal
import sys
from typing import Any

QUIET = -1


def serve(wish: dict[str, Any]) -> Any:
    """Load the file `path` and listen on a free loopback port. Raises RuntimeError where that fails."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = wish["path"]
    settings.model_alias = {wish["id"]}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.api_keys = [wish["key"]]
    # Each conversation has a window of its own. In a shared one, two long ones make each other fail.
    settings.n_ctx = wish["window"] * wish["conversations"]
    settings.n_parallel = wish["conversations"]
    settings.cache_type_k = settings.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_Q8_0  # half the memory
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = wish["threads"]
    settings.cache_ram_mib = 0  # else up to 8 GB of old conversations are kept
    settings.ui = settings.endpoint_slots = settings.warmup = False
    settings.verbosity = QUIET
    settings.offline = True
    return xllamacpp.Server(settings)


def main() -> None:
    # A service manager signals the whole group; the replies being written are still wanted then.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    try:
        server = serve(json.loads(sys.stdin.buffer.readline()))
        print(server.listening_address, flush=True)
        sys.stdin.buffer.read()
    finally:
        # Not through the engine's own end: it hangs while it is writing.
        os._exit(0)


if __name__ == "__main__":
    main()
