"""One server process: the engine, the web server and the background tasks, from start to end."""

import asyncio
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

from chat.management import memory, metrics_server
from chatsite.server.deferred_reactor import restore
from chatsite.server.supervisor import BACKLOG_CONNECTIONS

if TYPE_CHECKING:
    from chat.files.extraction import Extracted, NeedsConversion
    from chatsite.server.accept_balance import AcceptBalance

EXIT_SECONDS = 5.0
# Longest time that a rendering thread keeps the interpreter lock while other threads wait. A page changes
# threads about ten times: with Python's default of 5 ms, another user's heavy page delays it by 50 ms.
SWITCH_SECONDS = 0.0005
LISTEN_ADVICE = {
    errno.EADDRINUSE: "Another program uses this port. End it, or set PORT to another one.",
    errno.EADDRNOTAVAIL: "Set HOST to an address of this machine.",
    errno.EACCES: "Ports below 1024 need rights of the system: set PORT to a higher one.",
}
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


def run(say: Say, listening: int | None = None) -> int:
    """Serve until stopped; return the exit code.

    `listening` is the descriptor of a socket that listens already; without it, HOST and PORT are used.
    """
    metrics = None
    if settings.METRICS_BIND:
        try:
            metrics = metrics_server.listen(*settings.METRICS_BIND, shared=False)
        except OSError as error:
            print(metrics_problem(error), file=sys.stderr, flush=True)
            return 1
    server = _create(say, listening, metrics=metrics)
    server.run()
    problem = listen_problem(server.listen_failure) if server.listen_failure else ""
    if problem:
        print(problem, file=sys.stderr, flush=True)
    _end_within(EXIT_SECONDS, 1 if problem else 0)
    _stop_tracing()
    return 1 if problem else 0


def run_worker(
    say: Say, listening: int, on_ready: Callable[[], None], pool_alive: int, balance: "AcceptBalance"
) -> int:
    """Serve as one of several workers, until stopped or until the pool has died; return the exit code.

    `on_ready()` is called once the worker serves. `pool_alive` is a descriptor whose stream ends with the
    pool. Connections are accepted by `balance`.
    """
    restore()
    metrics = None
    if settings.METRICS_BIND:
        metrics = metrics_server.listen(*settings.METRICS_BIND, shared=True)
    server = _create(say, listening, on_ready, metrics, balance)
    loop = asyncio.get_event_loop()

    def on_pool_died() -> None:
        loop.remove_reader(pool_alive)
        server.stop_listening()
        server.start_shutdown()

    loop.add_reader(pool_alive, on_pool_died)
    server.run()
    _end_within(EXIT_SECONDS, 0)
    _stop_tracing()
    return 0


def _create(
    say: Say,
    listening: int | None,
    on_ready: Callable[[], None] | None = None,
    metrics: socket.socket | None = None,
    balance: "AcceptBalance | None" = None,
) -> Any:
    """Start the engine; return the server around it, which `run()` starts.

    `metrics`: the socket on which the metrics are shown, if they have one of their own.
    """
    from daphne.server import twisted_loop as loop

    from chat.engine.engine import get_engine, shut_down
    from chatsite.asgi import application
    from chatsite.server.daphne_server import ChatServer

    asyncio.set_event_loop(loop)
    engine = loop.run_until_complete(get_engine())
    _start_tracing(engine.worker.pk)

    def on_listen() -> None:
        _start_background_tasks(loop, say)
        if metrics:
            loop.create_task(metrics_server.serve(metrics), name="show metrics")
        if on_ready:
            on_ready()

    server = ChatServer(
        application,
        endpoints=[_endpoint() if listening is None else f"fd:fileno={listening}"],
        grace=settings.DRAIN_SECONDS,
        on_stop=shut_down,
        on_force=engine.force_shutdown.set,
        on_listen=on_listen,
        balance=balance,
    )
    _tune_interpreter()
    return server


def _tune_interpreter() -> None:
    # Exempt what is loaded so far, and stays, from garbage collection: that was a tenth of a send's cost.
    gc.collect()
    gc.freeze()
    memory.trim()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    sys.setswitchinterval(SWITCH_SECONDS)


def _start_tracing(worker: uuid.UUID) -> None:
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from chat.telemetry.tracing import start

        start.start("chat", str(worker))


def _stop_tracing() -> None:
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from chat.telemetry.tracing import start

        start.stop()


def _endpoint() -> str:
    host = settings.HOST.replace(":", r"\:")
    return f"tcp:port={settings.PORT}:interface={host}:backlog={BACKLOG_CONNECTIONS}"


def preload() -> None:
    """Import what each worker needs and what can be imported before a fork."""
    import chatsite.asgi
    import chatsite.urls  # noqa: F401

    for connection in connections.all(initialized_only=True):
        connection.close()


def listen_problem(failure: OSError) -> str:
    advice = LISTEN_ADVICE.get(failure.errno or 0, "Check HOST and PORT.")
    return f"Cannot listen on {settings.HOST}, port {settings.PORT}: {failure.strerror}. {advice}"


def metrics_problem(failure: OSError) -> str:
    return f"Cannot listen on METRICS_BIND: {failure.strerror}. Write another address."


def _start_background_tasks(loop: asyncio.AbstractEventLoop, say: Say) -> None:
    """Start the background tasks. They are referenced by what they await until the server cancels them."""
    from chat.retention.daily import prune_daily, sweep_often
    from chat.search.build import build_in_background
    from chat.transfer.worker import work_on_imports

    loop.create_task(_greet(say))
    loop.create_task(build_in_background(), name="build the search index")
    loop.create_task(sweep_often(), name="sweep")
    loop.create_task(memory.trim_often(), name="trim memory")
    if settings.IMPORT_MAX_MB:
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
    from chat.db.executor import run_in_db
    from chat.engine.engine import get_engine
    from chat.files.confinement import warn_if_unconfined
    from chat.views.accounts.accounts import setup_url

    engine = await get_engine()
    say(f"Chat is running at {settings.SITE_URL}/")
    if link := await run_in_db(setup_url):
        say(f"Create the administrator account (once): {link}")
    say(f"Default model: {engine.catalog.default.name} ({engine.catalog.default.id}).")
    if settings.CLOUDFLARE_API_TOKEN:
        say(await _token_status(engine))
    await asyncio.to_thread(warn_if_unconfined)


async def _token_status(engine: Any) -> str:
    accepted = await engine.client.verify()
    if accepted is None:
        return "Cloudflare could not be reached to check CLOUDFLARE_API_TOKEN. The server keeps running."
    if accepted:
        return "Cloudflare accepted CLOUDFLARE_API_TOKEN."
    return "Cloudflare rejected CLOUDFLARE_API_TOKEN. Create a token with access to Workers AI, then restart."
