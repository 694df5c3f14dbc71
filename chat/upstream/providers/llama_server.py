"""llama.cpp's server as a separate process; `llama_cpp` runs this file as a script, nothing imports it.

Inside the web server's process, xllamacpp 2026.10 held the GIL while it loaded a model (0.3 s without any
other request being served), hung in most shutdowns during generation, and its crash would have ended every
conversation.

It reads one line of JSON from stdin, the settings, and writes one line to stdout: its base URL, or nothing if
the model cannot be loaded. It exits at the end of stdin: when the parent process closes the pipe or dies. If
several workers share it (`shared_llama`), it exits when nobody holds the lock of the file `site_lock`.
"""

import fcntl
import json
import os
import signal
import sys
from typing import Any

QUIET = -1


def serve(wish: dict[str, Any]) -> Any:
    """Load the model file and listen on a free loopback port. Raises RuntimeError if that fails."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = wish["path"]
    settings.model_alias = {wish["id"]}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.api_keys = [wish["key"]]
    # Each parallel request has a context window of its own. In a shared one, two long conversations make each
    # other fail.
    settings.n_ctx = wish["window"] * wish["conversations"]
    settings.n_parallel = wish["conversations"]
    settings.cache_type_k = settings.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_Q8_0  # half the memory
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = wish["threads"]
    for name, value in wish["sampling"].items():
        setattr(settings.sampling, name, value)
    settings.cache_ram_mib = 0  # the default keeps up to 8 GB of old conversations
    settings.ui = settings.endpoint_slots = settings.warmup = False
    settings.verbosity = QUIET
    settings.offline = True
    return xllamacpp.Server(settings)


def wait_for_end(site_lock: str) -> None:
    """Return when the site has ended: its lock is free; without a lock, stdin ends."""
    if site_lock:
        with open(site_lock, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    else:
        sys.stdin.buffer.read()


def main() -> None:
    # A service manager signals the whole process group, but the web server first drains the running replies.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    try:
        wish = json.loads(sys.stdin.buffer.readline())
        server = serve(wish)
        print(server.listening_address, flush=True)
        wait_for_end(wish["site_lock"])
    finally:
        # Skip llama.cpp's own shutdown, because it hangs during generation.
        os._exit(0)


if __name__ == "__main__":
    main()
