"""`manage.py serve`: the server, from the first check to the last stored word."""

import asyncio
import gc
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

GARBAGE = (20_000, 20, 50)  # the collector's thresholds; Python's own are for short scripts


class Command(BaseCommand):
    help = "Run the chat server. Stops in good order on SIGTERM or Ctrl-C; a second Ctrl-C ends it at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--prepare", action="store_true", help="migrate the database first")

    def handle(self, *args: Any, **options: Any) -> None:
        migrated = self._check_database(migrate=options["prepare"])
        collected = _collect_static()
        if migrated or collected:
            # Anew: what was loaded for that would stay, a quarter of an idle server's memory.
            os.execv(sys.executable, [sys.executable, sys.argv[0], "serve"])  # noqa: S606
        _raise_file_limit()
        if not _serve(self._say):
            sys.exit(1)

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
            raise CommandError(f"The database of DATABASE_URL cannot be used: {error}") from error
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


def _raise_file_limit() -> None:
    """Each open stream is a file, and each live run another."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _serve(say: Callable[[str], None]) -> bool:
    """Listen until told to stop. False where it could not listen."""
    from daphne.server import twisted_loop

    from chat.engine.engine import engine, shut_down
    from chatsite.asgi import application
    from chatsite.server import BACKLOG, ChatServer

    loop = twisted_loop
    asyncio.set_event_loop(loop)
    here = loop.run_until_complete(engine())
    host = settings.HOST.replace(":", r"\:")
    server = ChatServer(
        application,
        endpoints=[f"tcp:port={settings.PORT}:interface={host}:backlog={BACKLOG}"],
        on_stop=lambda: shut_down(settings.DRAIN_SECONDS),
        on_hurry=here.hurry.set,
        on_listen=lambda: loop.create_task(_greet(say)),
        proxy_forwarded_address_header="X-Forwarded-For" if settings.TRUSTED_PROXY else None,
        proxy_forwarded_proto_header="X-Forwarded-Proto" if settings.TRUSTED_PROXY else None,
    )
    # What is loaded stays: the collector need not look at it with every send, which was a tenth of its cost.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    server.run()
    return not server.failed


async def _greet(say: Callable[[str], None]) -> None:
    """The address, the set-up link while it is owed, who answers, and whether the token is good."""
    from chat.engine.database import in_database
    from chat.engine.engine import engine
    from chat.views.accounts import setup_url

    here = await engine()
    say(f"The chat is at {settings.SITE_URL}/")
    if link := await in_database(setup_url):
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
