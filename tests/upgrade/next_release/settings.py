"""The site's settings, with the migrations of the next release."""

from chatsite.settings import *  # noqa: F403

MIGRATION_MODULES = {"chat": "tests.upgrade.next_release.migrations"}
