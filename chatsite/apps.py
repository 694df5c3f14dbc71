"""Django application of the site: its commands and its system checks."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "chatsite"

    def ready(self) -> None:
        """Import the checks, which need the complete settings."""
        from chatsite import checks, model_checks  # noqa: F401
