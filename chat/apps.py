"""The chat as a Django application."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from chat.redaction import conceal


def secrets_of(settings: Any) -> Iterator[str]:
    """The site's own secrets, as the settings have them; passwords in addresses also as written there."""
    yield from (settings.CLOUDFLARE_API_TOKEN, settings.OPENAI_API_KEY, settings.SECRET_KEY)
    yield from settings.SECRET_KEY_FALLBACKS
    yield from (str(database.get("PASSWORD") or "") for database in settings.DATABASES.values())
    for url in (settings.DATABASE_URL, settings.REDIS_URL):
        written = urlsplit(url).password or ""
        yield from (written, unquote(written))


class ChatConfig(AppConfig):
    """Registers the start's checks beside what Django finds by itself, and the site's secrets."""

    name = "chat"
    verbose_name = _("Chat")

    def ready(self) -> None:
        """Import the checks: they register themselves, and they need the settings to be complete."""
        from chatsite import checks  # noqa: F401

        conceal(*secrets_of(settings))
