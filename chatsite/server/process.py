"""One server process: the engine, the web server and the background tasks, from start to end."""

import asyncio
import ctypes
import errno
import gc
import os
import resource
import socket
import sys
import threading
import uuid
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from django.conf import settings
from django.db import connections

from chat.db.background import repeat
from chat.telemetry.metrics import listener
from chatsite import env

if TYPE_CHECKING:
    from chat.files.extraction import Extracted, NeedsConversion
    from chatsite.server.accept_balance import AcceptBalance
    from chatsite.server.daphne_server import ChatServer

# Connections that may wait to be accepted: after a restart all clients reconnect at once.
BACKLOG_CONNECTIONS = 2_048
SYSTEMD_DESCRIPTOR = 3  # the first that it passes
EXIT_SECONDS = 5.0
TRIM_SECONDS = 5.0  # between two returns of free memory
# Longest time that a rendering thread keeps the interpreter lock while other threads wait. A page changes
# threads about ten times: with Python's default of 5 ms, another user's heavy page delays it by 50 ms.
SWITCH_SECONDS = 0.0005
LISTEN_ADVICE = {
    errno.EADDRINUSE: "Another program uses this port. End it, or set PORT to another one.",
    errno.EADDRNOTAVAIL: "Set HOST to an address of this machine.",
    errno.EACCES: "Ports below 1024 need rights of the system: set PORT to a higher one.",
}
UNREADABLE_ACCOUNT = (
    "The token of the connected Cloudflare account cannot be read, because SECRET_KEY has changed. Connect "
    "it again in the administration."
)
Say = Callable[[str], None]  # writes one line to the operator
# The thresholds of the garbage collector; Python's defaults suit short scripts.
COLLECTOR_THRESHOLDS = (20_000, 20, 50)


def _end_within(seconds: float, code: int) -> None:
    """End the process after `seconds` at the latest.

    Python's own exit waits for every thread, also for one that waits for a database that does not respond.
    """
    timer = threading.Timer(seconds, os._exit, [code])
    timer.daemon = True
    timer.start()


def raise_file_limit() -> None:
    """Raise the limit of open files to the hard limit: each open stream takes one, each live run another."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def listening_socket() -> int | None:
    """Return the descriptor of the socket that systemd passed to this process, see sd_listen_fds(3).

    To be called before Twisted is imported, which removes the variables from the environment.
    """
    passed = os.environ.get("LISTEN_PID") == str(os.getpid()) and os.environ.get("LISTEN_FDS", "0") != "0"
    return SYSTEMD_DESCRIPTOR if passed else None


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a listening socket; a `shared` one, where other workers listen too. Raises OSError."""
    is_ipv6 = ":" in host
    return socket.create_server(
        (host, port),
        family=socket.AF_INET6 if is_ipv6 else socket.AF_INET,
        backlog=BACKLOG_CONNECTIONS,
        reuse_port=shared,
        dualstack_ipv6=is_ipv6 and socket.has_dualstack_ipv6(),
    )


def run(
    say: Say,
    listening: int | None = None,
    *,
    on_ready: Callable[[], None] | None = None,
    pool_alive: int | None = None,
    balance: "AcceptBalance | None" = None,
) -> int:
    """Serve until stopped; return the exit code.

    `listening` is the descriptor of a socket that listens already; without it, HOST and PORT are used. One of
    several workers calls `on_ready()` once it serves, stops when the stream of the descriptor `pool_alive`
    ends, and accepts connections by `balance`.
    """
    from daphne.server import twisted_loop as loop

    from chat.engine.engine import get_engine, shut_down
    from chatsite.asgi import application
    from chatsite.server.daphne_server import ChatServer

    try:
        metrics = listen(*settings.METRICS_BIND, shared=bool(on_ready)) if settings.METRICS_BIND else None
    except OSError as error:
        return _fail(metrics_problem(error))
    asyncio.set_event_loop(loop)
    engine = loop.run_until_complete(get_engine())
    _start_tracing(engine.worker.pk)
    try:
        port = listen(settings.HOST, settings.PORT) if listening is None else socket.socket(fileno=listening)
    except OSError as error:
        return _fail(listen_problem(error))

    def on_listen() -> None:
        _start_tasks(loop, say, metrics)
        if on_ready:
            on_ready()

    server = ChatServer(
        application,
        port,
        grace=settings.DRAIN_SECONDS,
        on_stop=shut_down,
        on_force=engine.force_shutdown.set,
        on_listen=on_listen,
        balance=balance,
    )
    if pool_alive is not None:
        _stop_with_pool(loop, server, pool_alive)
    _tune_interpreter()
    server.run()
    _end_within(EXIT_SECONDS, 0)
    _stop_tracing()
    return 0


def _stop_with_pool(loop: asyncio.AbstractEventLoop, server: "ChatServer", pool_alive: int) -> None:
    """Stop the server when the stream of this descriptor ends: the process that would stop it has died."""

    def on_pool_died() -> None:
        loop.remove_reader(pool_alive)
        server.stop_listening()
        server.start_shutdown()

    loop.add_reader(pool_alive, on_pool_died)


def _fail(problem: str) -> int:
    print(problem, file=sys.stderr, flush=True)
    _end_within(EXIT_SECONDS, 1)
    return 1


def _tune_interpreter() -> None:
    # Exempt what is loaded so far, and stays, from garbage collection: that was a tenth of a send's cost.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    sys.setswitchinterval(SWITCH_SECONDS)


async def trim_memory() -> None:
    """Return the free pages of the heap to the system: 0.6 ms for one of 40 MB. Does nothing without glibc.

    Replies leave gaps between what stays in the heap, and glibc returns only its end by itself.
    https://man7.org/linux/man-pages/man3/malloc_trim.3.html
    """
    if malloc_trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        malloc_trim(0)


def _start_tracing(worker: uuid.UUID) -> None:
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from chat.telemetry.tracing import start

        env.export("OTEL_")
        start.start("chat", str(worker))


def _stop_tracing() -> None:
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from chat.telemetry.tracing import start

        start.stop()


def preload() -> None:
    """Import what each worker needs and what can be imported before a fork."""
    import chatsite.asgi
    import chatsite.urls  # noqa: F401

    for connection in connections.all(initialized_only=True):
        connection.close()


def listen_problem(failure: OSError) -> str:
    advice = LISTEN_ADVICE.get(failure.errno or 0, "Check HOST and PORT.")
    return f"Cannot listen on {settings.HOST}, port {settings.PORT}: {_reason(failure)}. {advice}"


def metrics_problem(failure: OSError) -> str:
    return f"Cannot listen on METRICS_BIND: {_reason(failure)}. Write another address."


def _reason(failure: OSError) -> str:
    """Return what the system says; `create_server` adds the address to it."""
    return os.strerror(failure.errno) if failure.errno else str(failure)


def _start_tasks(loop: asyncio.AbstractEventLoop, say: Say, metrics: socket.socket | None) -> None:
    """Start the background tasks. They are referenced by what they await until the server cancels them."""
    from chat.retention.daily import prune_daily, sweep_often
    from chat.search.build import build_in_background
    from chat.transfer.importing import work_on_imports

    loop.create_task(_greet(say))
    if metrics:
        loop.create_task(listener.serve(metrics), name="show metrics")
    loop.create_task(build_in_background(), name="build the search index")
    loop.create_task(sweep_often(), name="sweep")
    loop.create_task(repeat(trim_memory, TRIM_SECONDS, "trim memory"), name="trim memory")
    loop.create_task(work_on_imports(_convert), name="work on imports")
    if settings.PRUNE_DAILY:
        loop.create_task(prune_daily(), name="prune daily")


async def _convert(person: int, file: "IO[bytes]", needed: "NeedsConversion") -> "Extracted":
    from chat.engine.engine import get_engine
    from chat.files.extraction import convert

    return await convert((await get_engine()).client, person, file, needed)


async def _greet(say: Say) -> None:
    """Print the address, the set-up link while no user exists, the default model and the token's state.

    Warn if the processes that read files cannot be confined.
    """
    from chat.catalog import account
    from chat.db.executor import run_in_db
    from chat.engine.engine import get_engine
    from chat.files.confinement import warn_if_unconfined
    from chat.views.accounts.accounts import setup_url

    engine = await get_engine()
    say(f"Chat is running at {settings.SITE_URL}/")
    if link := await run_in_db(setup_url):
        say(f"Create the administrator account (once): {link}")
    say(f"Default model: {engine.catalog.default.name} ({engine.catalog.default.id}).")
    if cloudflare := engine.client.cloudflare:
        say(await _token_status(cloudflare))
    elif account.connected().is_unreadable:
        say(UNREADABLE_ACCOUNT)
    await asyncio.to_thread(warn_if_unconfined)


async def _token_status(cloudflare: Any) -> str:
    of_settings = bool(settings.CLOUDFLARE_ACCOUNT_ID)
    token = "CLOUDFLARE_API_TOKEN" if of_settings else "the connected token"
    accepted = await cloudflare.verify()
    if accepted is None:
        return f"Cloudflare could not be reached to check {token}. The server keeps running."
    if accepted:
        return f"Cloudflare accepted {token}."
    then = "then restart" if of_settings else "then connect again in the administration"
    return f"Cloudflare rejected {token}. Create a token with access to Workers AI, {then}."
