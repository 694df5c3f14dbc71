"""Django application configuration of the chat."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from chat.telemetry.redaction import conceal


def secrets_of(settings: Any) -> Iterator[str]:
    """Yield the site's own secrets from the settings.

    Passwords in DATABASE_URL and REDIS_URL come twice: as written there (percent-encoded) and decoded.
    """
    yield from (settings.CLOUDFLARE_API_TOKEN, settings.OPENAI_API_KEY, settings.BRAVE_API_KEY)
    yield from settings.MCP_SECRETS.values()
    yield settings.SECRET_KEY
    yield from settings.SECRET_KEY_FALLBACKS
    yield from (str(database.get("PASSWORD") or "") for database in settings.DATABASES.values())
    for url in (settings.DATABASE_URL, settings.REDIS_URL):
        encoded = urlsplit(url).password or ""
        yield from (encoded, unquote(encoded))


class ChatConfig(AppConfig):
    """Register the search index and the secrets to redact when the application starts."""

    name = "chat"
    verbose_name = _("Chat")

    def ready(self) -> None:
        """Import what registers itself on import and needs the complete settings: the index."""
        from chat.search import index  # noqa: F401

        conceal(*secrets_of(settings))
