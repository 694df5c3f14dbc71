"""A copy of all stored rows, to compare before and after."""

from typing import Any

from django.apps import apps

from tests.support.databases import Database

# Heartbeats and what is done now and then, such as the write that /readyz tries every few seconds, what comes
# and goes with every visitor, and what Cloudflare says of its models.
RESTLESS = {
    "chat_worker",
    "chat_maintenancetask",
    "django_session",
    "axes_accessattempt",
    "axes_accesslog",
    "axes_accessfailurelog",
    "chat_catalogstate",
    "chat_sitemodel",
}


def everything(database: Database, *but: str) -> dict[str, list[Any]]:
    """The rows of each table, but for those named."""
    models = apps.get_models(include_auto_created=True)
    tables = sorted({model._meta.db_table for model in models} - RESTLESS - set(but))
    found = database.each(*(f"SELECT * FROM {table}" for table in tables))
    return {table: sorted(rows, key=repr) for table, rows in zip(tables, found, strict=True)}
