"""`manage.py models`: fetch Cloudflare's list of models now, and print what has changed."""

import asyncio
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chat.catalog import account as stored_account
from chat.catalog import catalog, watcher
from chat.catalog.config import account
from chat.models import SiteModel
from chat.upstream.client import Client
from chat.upstream.errors import UpstreamError

NO_ACCOUNT = (
    "There is no Cloudflare account: connect one in the administration, or write CLOUDFLARE_ACCOUNT_ID and "
    "CLOUDFLARE_API_TOKEN."
)


class Command(BaseCommand):
    help = "Fetch the list of models from Cloudflare now. A running server does so by itself every six hours."
    # The checks reject a DEFAULT_MODEL that is not known yet, and this command makes it known.
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        stored_account.load()
        if account() is None:
            raise CommandError(NO_ACCOUNT)
        try:
            found = asyncio.run(_fetch())
        except UpstreamError as error:
            why = f" ({error.detail})" if error.detail else ""
            raise CommandError(f"{error.message}{why} The models stay as they are.") from error
        changes = watcher.store_models(found)
        names = {row.pk: row.display_name or _called(row) for row in SiteModel.objects.all()}
        self._list("new", changes.added, names)
        self._list("back", changes.relisted, names)
        self._list("gone", changes.delisted, names)
        for key, what in changes.changed.items():
            self.stdout.write(f"changed: {names[key]}: {'; '.join(what)}")
        self.stdout.write(_total(found) if changes else f"{_total(found)} Nothing has changed.")

    def _list(self, word: str, keys: Iterable[str], names: dict[str, str]) -> None:
        for key in keys:
            self.stdout.write(f"{word}: {names[key]}")


async def _fetch() -> watcher.FetchedModels:
    client = Client(account(), None)
    try:
        assert client.cloudflare is not None
        return await watcher.fetch(client.cloudflare)
    finally:
        await client.aclose()


def _called(row: SiteModel) -> str:
    model = catalog.declared_model(row)
    return model.name if model else row.pk


def _total(found: watcher.FetchedModels) -> str:
    if found.finetunes is None:
        return f"Cloudflare lists {len(found.models)} text models; its list of finetunes could not be had."
    return f"Cloudflare lists {len(found.models)} text models and {len(found.finetunes)} finetunes."
