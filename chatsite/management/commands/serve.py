"""`manage.py serve`: run the server, from the first check until the text of all runs is stored."""

import logging
import os
import sys
from argparse import SUPPRESS, ArgumentTypeError
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.checks import Tags
from django.core.checks.registry import registry
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

from chat.db import migration_status
from chat.db.locks import preparing
from chat.health.start import require_sound
from chat.telemetry import metrics
from chat.telemetry.metrics import shared_files
from chat.telemetry.redaction import redact
from chat.upstream.providers import shared_llama
from chatsite import storage
from chatsite.server import process as server_process
from chatsite.server.accept_balance import AcceptBalance
from chatsite.server.worker_pool import OLD_WORKERS_VARIABLE, TRIAL, WorkerPool

MAX_WORKERS = 256
# Writers of SQLite wait for each other. With 100 streams, beside one process: a token costs 1.2 times the CPU
# time with 2 workers, 1.6 times with 4, 2.2 times with 8; of 100 sends at once the slowest take 0.9, 1.3 and
# 3.1 times as long.
MAX_SQLITE_WORKERS = 4
SQLITE_WORKERS = (
    "%d processes write to one SQLite file, one at a time. More than %d are slower than fewer: "
    "use PostgreSQL (DATABASE_URL), or --workers %d."
)

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Run the chat server. SIGTERM or Ctrl-C lets replies finish; a second Ctrl-C stops it immediately."
    # Without the check of `migrate` and `makemigrations`: it imports both, and their modules would stay,
    # 1 MB of an idle server's memory.
    requires_system_checks = tuple(registry.tags_available() - {Tags.commands})

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--prepare", action="store_true", help="migrate the database first")
        parser.add_argument(
            "--workers",
            type=_worker_count,
            metavar="N",
            help="number of processes that share the port, or auto: one for each core, with SQLite at most "
            f"{MAX_SQLITE_WORKERS}. SIGHUP replaces them",
        )
        parser.add_argument("--pool", help=SUPPRESS)  # three descriptors, of `_become_pool`
        parser.add_argument(TRIAL, action="store_true", dest="trial", help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        workers = options["workers"]
        if workers and not options["pool"]:
            if connection.vendor == "sqlite" and workers > MAX_SQLITE_WORKERS:
                logger.warning(SQLITE_WORKERS, workers, MAX_SQLITE_WORKERS, MAX_SQLITE_WORKERS)
            _become_pool()
        if OLD_WORKERS_VARIABLE not in os.environ:  # else the trial has done this
            self._prepare(migrate=options["prepare"], trial=options["trial"])
        if options["trial"]:
            return
        server_process.raise_file_limit()
        if options["pool"]:
            sys.exit(self._run_pool(options["workers"], *map(int, options["pool"].split(","))))
        shared_files.forget()
        shared_llama.forget()
        sys.exit(server_process.run(self._say, server_process.listening_socket()))

    def _prepare(self, *, migrate: bool, trial: bool) -> None:
        """Check the database, and migrate it and collect the static files where that is needed."""
        require_sound(connection)
        with preparing(settings.DATA_DIR):
            migrated = self._check_database(migrate=migrate)
            collected = _collect_static()
        if (migrated or collected) and not trial:
            # Start anew: modules loaded for these steps would stay, a quarter of an idle server's memory.
            os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606

    def _run_pool(self, count: int, listening: int, alive: int, alive_writer: int) -> int:
        """Fork `count` workers that accept connections of the socket `listening`; return the exit code."""
        server_process.preload()
        on_failure = _count_failures() if metrics.is_enabled() else lambda: None

        def serve(first: bool, on_ready: Callable[[], None], pool_alive: int, balance: AcceptBalance) -> int:
            say = self._say if first else _say_nothing
            return server_process.run(
                say, listening, on_ready=on_ready, pool_alive=pool_alive, balance=balance
            )

        return WorkerPool((alive, alive_writer), count, serve, on_failure).run()

    def _say(self, line: str) -> None:
        """Write a line and flush it, so that it also appears at once in a file or a container's log."""
        self.stdout.write(line)
        self.stdout.flush()

    def _check_database(self, *, migrate: bool) -> bool:
        """Return True if the database lacked migrations, and they were applied.

        Raises CommandError: when the database cannot be used, or lacks migrations without `migrate`.
        """
        try:
            found = migration_status.compare()
            if found.newer:
                logger.warning(migration_status.NEWER, found.newer)
            if not found.missing:
                return False
            if not migrate:
                raise CommandError(migration_status.MISSING_TABLES)
            call_command("migrate", interactive=False, verbosity=0)
            return True
        except DatabaseError as error:
            raise CommandError(
                f"The database of DATABASE_URL cannot be used: {redact(str(error))}"
            ) from error
        finally:
            connection.close()


def _collect_static() -> bool:
    """Collect the static files if they are not those of the manifest, which every page needs.

    Return True if they were collected.
    """
    if storage.collected_digest() == storage.sources_digest():
        return False
    call_command("collectstatic", interactive=False, verbosity=0)
    return True


def _count_failures() -> Callable[[], None]:
    """Prepare the workers' metrics; return what counts a worker that failed. Raises CommandError."""
    try:
        shared_files.prepare()
    except OSError as error:
        raise CommandError(
            f"The folder of the metrics, in DATA_DIR, cannot be written: {error.strerror}. Make room in it, "
            "or leave out METRICS_TOKEN and METRICS_BIND."
        ) from error
    from chat.telemetry.metrics import definitions

    return definitions.worker_failures.inc


def _say_nothing(line: str) -> None:
    """Leave the greeting to the first worker."""


def _worker_count(text: str) -> int:
    """Return a number of workers. Raises ArgumentTypeError: when it is none."""
    if text == "auto":
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, MAX_SQLITE_WORKERS) if connection.vendor == "sqlite" else cores
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_WORKERS:
        return int(text)
    raise ArgumentTypeError(
        f"{text!r} is no number of workers: write auto, or a whole number from 1 to {MAX_WORKERS}."
    )


def _become_pool() -> None:
    """Listen, and replace this process by the pool of workers. Raises CommandError: when it cannot listen."""
    listening = server_process.listening_socket()
    if listening is None:
        try:
            listening = server_process.listen(settings.HOST, settings.PORT).detach()
        except OSError as error:
            raise CommandError(server_process.listen_problem(error)) from error
    if settings.METRICS_BIND:
        try:  # the workers share this address, and could not tell that another program has it
            server_process.listen(*settings.METRICS_BIND).close()
        except OSError as error:
            raise CommandError(server_process.metrics_problem(error)) from error
    shared_files.choose()
    try:
        shared_llama.prepare(settings.DATA_DIR / "local-model")
    except OSError as error:
        logger.warning("Each worker starts a local model of its own: %s.", error)
    descriptors = (listening, *os.pipe())  # the pipe's end tells the workers that the pool has died
    for each in descriptors:
        os.set_inheritable(each, True)
    command = [sys.executable, *sys.argv, "--pool", ",".join(map(str, descriptors))]
    os.execv(sys.executable, command)  # noqa: S606
