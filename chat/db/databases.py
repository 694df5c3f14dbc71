"""Connection settings of a database, from its address."""

import re
from typing import Any
from urllib.parse import unquote, urlsplit

SQLITE_BACKEND = "django.db.backends.sqlite3"
POSTGRESQL = "django.db.backends.postgresql"


def from_url(url: str) -> dict[str, Any]:
    """Return Django's settings of the database at this address. Raises ValueError: when it is none."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        database = _sqlite(parts.netloc, parts.path)
    elif parts.scheme in ("postgres", "postgresql"):
        database = _postgresql(url)
    else:
        raise ValueError("the scheme is not known")
    database |= {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": True}
    if database["ENGINE"] == SQLITE_BACKEND:
        # IMMEDIATE: of 1,000 transactions in 20 threads that read, then write, 358 failed with WAL alone, and
        # none with both. Each thread has a cache of pages, for what it writes; what it reads is mapped. With
        # the default of 2 MB each, 10,000 replies left 9.1 MB, with 500 KiB 4.6 MB; writes cost the same.
        database["OPTIONS"] = {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
            "PRAGMA cache_size=-500; PRAGMA mmap_size=134217728; PRAGMA journal_size_limit=67108864;",
        }
    if database["ENGINE"] == POSTGRESQL:
        # Fail soon if the server or the network does not respond; libpq would wait for many minutes.
        limits = {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5}
        limits |= {"keepalives_count": 3, "tcp_user_timeout": 20_000}  # milliseconds
        database["OPTIONS"] = limits | database.get("OPTIONS", {})
    return database


def _sqlite(host: str, path: str) -> dict[str, Any]:
    """`sqlite:////folder/file` names an absolute path, `sqlite:///file` a relative one."""
    if host or len(path) < 2:
        raise ValueError("the path of the file is missing")
    return {"ENGINE": SQLITE_BACKEND, "NAME": unquote(path[1:])}


def _postgresql(url: str) -> dict[str, Any]:
    """Read the address as libpq does. Parameters without a Django setting become options."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        options: dict[str, Any] = conninfo_to_dict(url)
    except ProgrammingError as error:
        raise ValueError("libpq cannot read it") from error
    named = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    database = {name: str(options.pop(key, "")) for name, key in named.items()}
    if not re.fullmatch("[0-9]*", database["PORT"]):
        raise ValueError("the port is no number")
    return {"ENGINE": POSTGRESQL, **database, "OPTIONS": options}
