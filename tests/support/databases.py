"""Fresh databases, copied from one that was migrated once: SQLite files and PostgreSQL databases."""

import os
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from chat.db.locks import exclusive
from tests.support.people import SCRIPT

ROOT = Path(__file__).parents[2]
SETTINGS = re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE)
POSTGRES = os.environ.get("TEST_POSTGRES", "postgresql:///postgres")
REDIS = os.environ.get("TEST_REDIS", "redis://127.0.0.1:6379/15")

# Run by `manage.py shell`: all in one process, for each start of one costs two seconds.
MADE = f"""
from os import environ
from django.core.management import call_command
from django.db import connection
from tests.support.databases import keep_migrated
call_command("migrate", interactive=False, verbosity=0)
connection.close()
keep_migrated(environ["DATABASE_URL"])
{SCRIPT}
connection.close()
"""


def clean_environment(**settings: str) -> dict[str, str]:
    """Only these settings; an empty one also silences a developer's `.env`.

    Titles and embeddings are off unless a test turns them on: tests count the calls that the fake gets.
    """
    off = {"TITLE_MODEL": "none", "EMBEDDING_MODEL": "none"}
    return dict.fromkeys(SETTINGS, "") | {"PATH": os.environ["PATH"], **off, **settings}


class Database:
    """A database of one test, and questions to it past the application."""

    def __init__(self, url: str) -> None:
        self.url = url

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.each(sql)[0]

    def each(self, *statements: str) -> list[list[tuple[Any, ...]]]:
        """The rows of each statement, over one connection: to open one costs more than a short statement."""
        if self.url.startswith("sqlite"):
            connection = sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=20)
            try:
                return [connection.execute(sql).fetchall() for sql in statements]
            finally:
                connection.commit()
                connection.close()
        with psycopg.connect(self.url, autocommit=True) as session:
            cursors = (session.execute(sql) for sql in statements)
            return [cursor.fetchall() if cursor.description else [] for cursor in cursors]

    def value(self, sql: str) -> Any:
        return self.rows(sql)[0][0]

    def key(self, uuid: str) -> str:
        """Return a UUID as this database writes it."""
        return uuid.replace("-", "") if self.url.startswith("sqlite") else uuid

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold a lock, so that no other connection writes a run."""
        if self.url.startswith("sqlite"):
            connection = sqlite3.connect(
                self.url.removeprefix("sqlite:///"), timeout=20, isolation_level=None
            )
            connection.execute("BEGIN IMMEDIATE")
        else:
            connection = psycopg.connect(self.url)  # type: ignore[assignment]
            connection.execute("LOCK TABLE chat_run IN EXCLUSIVE MODE")
        try:
            yield
        finally:
            connection.rollback()
            connection.close()

    def drop(self) -> None:
        if not self.url.startswith("sqlite"):
            with psycopg.connect(POSTGRES, autocommit=True) as connection:
                connection.execute(f'DROP DATABASE IF EXISTS "{self.url.rsplit("/", 1)[1]}" WITH (FORCE)')


class Template:
    """The migrated database with the people in it, and the static files, collected for the first server."""

    def __init__(self, folder: Path, kind: str, *, static_folder: Path | None = None) -> None:
        self.kind = kind
        self.folder = folder
        self._static_folder = static_folder or folder
        self.secret_key = uuid.uuid4().hex * 2
        self._database = self._empty("template")
        self._manage(folder, "shell", "-v0", "-c", MADE)

    @classmethod
    def shared(cls, folder: Path, kind: str) -> "Template":
        """The template of all processes that share `folder`: the first makes it, the others wait for it."""
        made = folder / f"{kind}.pickle"
        with exclusive(folder / f"{kind}.lock"):
            if made.exists():
                return pickle.loads(made.read_bytes())
            (folder / kind).mkdir()
            template = cls(folder / kind, kind, static_folder=folder)
            made.write_bytes(pickle.dumps(template))
            return template

    def copy(self, folder: Path) -> Database:
        """A database for one test, in `folder` where it is a file."""
        if self.kind == "sqlite":
            shutil.copy(self.folder / "template.sqlite3", folder / "db.sqlite3")
            return Database(f"sqlite:///{folder}/db.sqlite3")
        return self._empty(f"test_{uuid.uuid4().hex}", template=self._database.url.rsplit("/", 1)[1])

    def copy_without_people(self, folder: Path) -> Database:
        """A database as `migrate` leaves it, in `folder` where it is a file."""
        if self.kind == "sqlite":
            file = folder / f"{uuid.uuid4().hex}.sqlite3"
            shutil.copy(migrated(f"{self.folder}/template.sqlite3"), file)
            return Database(f"sqlite:///{file}")
        name = self._database.url.rsplit("/", 1)[1]
        return self._empty(f"test_{uuid.uuid4().hex}", template=migrated(name))

    def static_for(self, folder: Path) -> None:
        static = self._static_folder / "static"
        with exclusive(self._static_folder / "static.lock"):
            if not static.exists():
                self._manage(self._static_folder, "collectstatic", "--no-input", "-v0")
        (folder / "static").symlink_to(static)

    def drop(self) -> None:
        self._database.drop()
        Database(migrated(self._database.url)).drop()

    def _manage(self, data_dir: Path, *arguments: str) -> None:
        env = clean_environment(
            DATA_DIR=str(data_dir), DATABASE_URL=self._database.url, SECRET_KEY=self.secret_key
        )
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=env, check=True)

    def _empty(self, name: str, template: str = "") -> Database:
        if self.kind == "sqlite":
            return Database(f"sqlite:///{self.folder}/{name}.sqlite3")
        return on_postgres(name if template else f"{name}_{uuid.uuid4().hex}", template)


def migrated(database: str) -> str:
    """Return the name of the copy of a template without people."""
    return f"{database}-migrated"


def keep_migrated(url: str) -> None:
    """Copy a template that has no people yet. Nothing may be connected to it."""
    if url.startswith("sqlite"):
        file = url.removeprefix("sqlite:///")
        shutil.copy(file, migrated(file))
    else:
        name = url.rsplit("/", 1)[1]
        on_postgres(migrated(name), template=name)


def on_postgres(name: str, template: str = "") -> Database:
    """A new database, empty or a copy of `template`.

    Its commits do not wait for the disk: no test cuts the power of the machine that PostgreSQL runs on.
    """
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{template}"' if template else ""))
        connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    return Database(f"{POSTGRES.rsplit('/', 1)[0]}/{name}")
