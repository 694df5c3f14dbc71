"""`manage.py doctor`: the set-up check of the administration, in a terminal."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

from chat.catalog import account
from chat.db import migration_status
from chat.engine.engine import Engine
from chat.health import BAD, Finding
from chat.health.checks import model_checks, service_checks

FINDING_MARKS = {"good": "ok", "note": "note", "bad": "FAIL"}


class Command(BaseCommand):
    help = "Check the database, Redis, the token and the other services. The exit code is 1 if a check fails."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--models",
            action="store_true",
            help="also send a short question to each model, which may cost money",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        _require_tables()
        _load_account()
        failed = asyncio.run(self._report(models=options["models"]))
        if failed:
            raise CommandError(f"{failed} of the checks failed.")

    async def _report(self, *, models: bool) -> int:
        """Print each finding as it comes; return how many are bad."""
        failed = 0
        async for finding in _findings(models=models):
            failed += finding.state == BAD
            mark = FINDING_MARKS[finding.state]
            self.stdout.write(f"{mark:<5} {finding.name}: {finding.message} {finding.advice}".rstrip())
        return failed


async def _findings(*, models: bool) -> AsyncIterator[Finding]:
    engine = Engine()  # not started: it owns no runs, and no other process sees it
    try:
        for check in [*service_checks(engine), *(model_checks(engine) if models else [])]:
            yield await check()
    finally:
        await engine.close()


def _load_account() -> None:
    """Read which account the administration has connected. A database that is away is a finding."""
    with suppress(DatabaseError):
        account.load()
    connection.close()


def _require_tables() -> None:
    """Raise CommandError if a migration is missing. A database that is away is a finding of the checks."""
    try:
        missing = migration_status.are_missing()
    except DatabaseError:
        return
    finally:
        connection.close()
    if missing:
        raise CommandError(migration_status.MISSING_TABLES)
