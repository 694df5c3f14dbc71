"""`manage.py serve`: run the server, from the first check until the text of all runs is stored."""

import asyncio
import gc
import os
import resource
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from chat.management.commands.migrate import require_sound
from chat.redaction import redact
from chatsite.locks import exclusive

WAITING = "Another process prepares DATA_DIR; waiting for it."
EXIT_SECONDS = 5.0
# Longest time that a rendering thread keeps the interpreter lock while other threads wait. A page changes
# threads about ten times: with Python's default of 5 ms, another user's heavy page delays it by 50 ms.
SWITCH_SECONDS = 0.0005
GARBAGE = (20_000, 20, 50)  # thresholds of the garbage collector; Python's defaults suit short scripts


class Command(BaseCommand):
    help = "Run the chat server. Stops in good order on SIGTERM or Ctrl-C; a second Ctrl-C ends it at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--prepare", action="store_true", help="migrate the database first")

    def handle(self, *args: Any, **options: Any) -> None:
        require_sound(connection)
        with exclusive(settings.DATA_DIR / "prepare.lock", WAITING):
            migrated = self._check_database(migrate=options["prepare"])
            collected = _collect_static()
        if migrated or collected:
            # Start anew: modules loaded for these steps would stay, a quarter of an idle server's memory.
            os.execv(sys.executable, [sys.executable, sys.argv[0], "serve"])  # noqa: S606
        _raise_file_limit()
        code = 0 if _serve(self._say) else 1
        _end_within(EXIT_SECONDS, code)
        if code:
            sys.exit(code)

    def _say(self, line: str) -> None:
        """Write a line and flush it, so that it also appears at once in a file or a container's log."""
        self.stdout.write(line)
        self.stdout.flush()

    def _check_database(self, *, migrate: bool) -> bool:
        """Return True if the database lacked migrations, and they were applied.

        Raises CommandError: when the database cannot be used, or lacks migrations without `migrate`.
        """
        try:
            executor = MigrationExecutor(connection)
            if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
                return False
            if not migrate:
                raise CommandError("The database lacks tables. Run `manage.py migrate` first.")
            call_command("migrate", interactive=False, verbosity=0)
            return True
        except DatabaseError as error:
            raise CommandError(
                f"The database of DATABASE_URL cannot be used: {redact(str(error))}"
            ) from error
        finally:
            connection.close()


def _collect_static() -> bool:
    """Collect the static files if one is newer than the manifest of hashed names, which every page needs.

    Return True if they were collected. The manifest is then newer than every file, so that the next start
    does not collect them again.
    """
    manifest = settings.STATIC_ROOT / "staticfiles.json"
    ours = [path for folder in settings.STATICFILES_DIRS for path in folder.rglob("*")]
    newest = max(path.stat().st_mtime for path in [Path(django.__file__), *ours])
    if manifest.exists() and manifest.stat().st_mtime >= newest:
        return False
    call_command("collectstatic", interactive=False, verbosity=0)
    return True


def _end_within(seconds: float, code: int) -> None:
    """End the process after `seconds` at the latest.

    Python's own exit waits for every thread, also for one that waits for a database that does not respond.
    """
    timer = threading.Timer(seconds, os._exit, [code])
    timer.daemon = True
    timer.start()


def _raise_file_limit() -> None:
    """Raise the limit of open files to the hard limit: each open stream takes one, each live run another."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _serve(say: Callable[[str], None]) -> bool:
    """Serve until stopped. Return False if the server could not listen on its port."""
    from daphne.server import twisted_loop

    from chat.engine.engine import get_engine, shut_down
    from chatsite.asgi import application
    from chatsite.server.daphne_server import BACKLOG, ChatServer

    loop = twisted_loop
    asyncio.set_event_loop(loop)
    engine = loop.run_until_complete(get_engine())
    host = settings.HOST.replace(":", r"\:")
    server = ChatServer(
        application,
        endpoints=[f"tcp:port={settings.PORT}:interface={host}:backlog={BACKLOG}"],
        on_stop=lambda: shut_down(settings.DRAIN_SECONDS),
        on_force=engine.force_shutdown.set,
        on_listen=lambda: _listening(loop, say),
    )
    # Exempt what is loaded so far, and stays, from garbage collection: that was a tenth of a send's cost.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    sys.setswitchinterval(SWITCH_SECONDS)
    server.run()
    return not server.failed


def _listening(loop: asyncio.AbstractEventLoop, say: Callable[[str], None]) -> None:
    """Start the background tasks. They are referenced by what they await until the server cancels them."""
    from chat.retention.daily import prune_daily

    loop.create_task(_greet(say))
    if settings.PRUNE_DAILY:
        loop.create_task(prune_daily(), name="prune daily")


async def _greet(say: Callable[[str], None]) -> None:
    """Print the address, the set-up link while no user exists, the default model and the token's state."""
    from chat.db import run_in_db
    from chat.engine.engine import get_engine
    from chat.views.accounts import setup_url

    engine = await get_engine()
    say(f"The chat is at {settings.SITE_URL}/")
    if link := await run_in_db(setup_url):
        say(f"Make the administrator's account, once: {link}")
    say(f"Answers come from {engine.catalogue.default.name} ({engine.catalogue.default.id}).")
    if settings.CLOUDFLARE_API_TOKEN:
        say(await _token_said(engine))


async def _token_said(engine: Any) -> str:
    accepted = await engine.client.verify()
    if accepted is None:
        return "Cloudflare could not be reached to check CLOUDFLARE_API_TOKEN; the server goes on."
    if accepted:
        return "Cloudflare accepted CLOUDFLARE_API_TOKEN."
    return "Cloudflare refused CLOUDFLARE_API_TOKEN: make one that may use Workers AI, and start again."
