"""The index of the site's database: `sqlite` and `postgres` have the same functions."""

from typing import TYPE_CHECKING

from django.db import connection

if TYPE_CHECKING or connection.vendor == "sqlite":
    from . import sqlite as engine
else:
    from . import postgres as engine

__all__ = ["engine"]
