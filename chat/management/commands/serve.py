"""`manage.py serve`: the server, from the first check to the last stored word."""

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
# How long a thread that renders keeps the interpreter while others wait. A page changes threads some ten
# times: with Python's 5 ms each, one heavy page of somebody else makes it wait 50 ms more.
SWITCH_SECONDS = 0.0005
GARBAGE = (20_000, 20, 50)  # the collector's thresholds; Python's own are for short scripts


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
            # Anew: what was loaded for that would stay, a quarter of an idle server's memory.
            os.execv(sys.executable, [sys.executable, sys.argv[0], "serve"])  # noqa: S606
        _raise_file_limit()
        code = 0 if _serve(self._say) else 1
        _end_within(EXIT_SECONDS, code)
        if code:
            sys.exit(code)

    def _say(self, line: str) -> None:
        """Seen at once also where the output is a file or a container's log."""
        self.stdout.write(line)
        self.stdout.flush()

    def _check_database(self, *, migrate: bool) -> bool:
        """Whether it had to be migrated, and was."""
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
    """Collect what is newer than the manifest of hashed names, without which no page can be made.

    Says whether it did; afterwards the manifest is newer than every file, so it is not done again.
    """
    manifest = settings.STATIC_ROOT / "staticfiles.json"
    ours = [path for folder in settings.STATICFILES_DIRS for path in folder.rglob("*")]
    newest = max(path.stat().st_mtime for path in [Path(django.__file__), *ours])
    if manifest.exists() and manifest.stat().st_mtime >= newest:
        return False
    call_command("collectstatic", interactive=False, verbosity=0)
    return True


def _end_within(seconds: float, code: int) -> None:
    """Python's end waits for every thread, also for one that waits for a database that says nothing."""
    timer = threading.Timer(seconds, os._exit, [code])
    timer.daemon = True
    timer.start()


def _raise_file_limit() -> None:
    """Each open stream is a file, and each live run another."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _serve(say: Callable[[str], None]) -> bool:
    """Listen until told to stop. False where it could not listen."""
    from daphne.server import twisted_loop

    from chat.engine.engine import get_engine, shut_down
    from chatsite.asgi import application
    from chatsite.server.daphne_server import BACKLOG, ChatServer

    loop = twisted_loop
    asyncio.set_event_loop(loop)
    here = loop.run_until_complete(get_engine())
    host = settings.HOST.replace(":", r"\:")
    server = ChatServer(
        application,
        endpoints=[f"tcp:port={settings.PORT}:interface={host}:backlog={BACKLOG}"],
        on_stop=lambda: shut_down(settings.DRAIN_SECONDS),
        on_force=here.force_shutdown.set,
        on_listen=lambda: _listening(loop, say),
    )
    # What is loaded stays: the collector need not look at it with every send, which was a tenth of its cost.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    sys.setswitchinterval(SWITCH_SECONDS)
    server.run()
    return not server.failed


def _listening(loop: asyncio.AbstractEventLoop, say: Callable[[str], None]) -> None:
    """The server cancels these at its end; it also holds on to them until then."""
    from chat.retention.daily import prune_daily

    loop.create_task(_greet(say))
    if settings.PRUNE_DAILY:
        loop.create_task(prune_daily(), name="prune daily")


async def _greet(say: Callable[[str], None]) -> None:
    """The address, the set-up link while it is owed, who answers, and whether the token is good."""
    from chat.db import run_in_db
    from chat.engine.engine import get_engine
    from chat.views.accounts import setup_url

    here = await get_engine()
    say(f"The chat is at {settings.SITE_URL}/")
    if link := await run_in_db(setup_url):
        say(f"Make the administrator's account, once: {link}")
    say(f"Answers come from {here.catalogue.default.name} ({here.catalogue.default.id}).")
    if settings.CLOUDFLARE_API_TOKEN:
        say(await _token_said(here))


async def _token_said(here: Any) -> str:
    accepted = await here.client.verify()
    if accepted is None:
        return "Cloudflare could not be reached to check CLOUDFLARE_API_TOKEN; the server goes on."
    if accepted:
        return "Cloudflare accepted CLOUDFLARE_API_TOKEN."
    return "Cloudflare refused CLOUDFLARE_API_TOKEN: make one that may use Workers AI, and start again."
