"""The chat as a Django application."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ChatConfig(AppConfig):
    """Registers the start's checks beside what Django finds by itself."""

    name = "chat"
    verbose_name = _("Chat")

    def ready(self) -> None:
        """Import the checks: they register themselves, and they need the settings to be complete."""
        from chatsite import checks  # noqa: F401
