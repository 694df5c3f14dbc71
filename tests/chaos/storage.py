"""The database of a round behind links of ours, and what can be done to it."""

import os
import sqlite3
import subprocess
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg

from tests.support.databases import POSTGRES, Database, Template

DISK_BYTES = 96 * 1024 * 1024
LOCK_PATIENCE_SECONDS = 60


class Disk:
    """A small file system in memory, to be filled. Only root may have one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filling = folder / "filling"

    @classmethod
    @contextmanager
    def mounted(cls, folder: Path) -> Iterator["Disk | None"]:
        """Mount a small disk; yield None where that is not possible."""
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(folder)]
        if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
            yield None
            return
        try:
            yield cls(folder)
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)

    def fill(self) -> None:
        with self._filling.open("wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    continue

    def empty(self) -> None:
        self._filling.unlink(missing_ok=True)


class Storage:
    """A fresh database; on a disk that can be filled where there is one."""

    def __init__(self, disk: Disk | None) -> None:
        self.disk = disk
        self.database: Database
        self._stack = ExitStack()

    def make(self, template: Template, folder: Path) -> None:
        """Make the databases, once; `close` also drops what a failed call left."""
        if template.kind == "sqlite":
            self.database = template.copy(self.disk.folder if self.disk else folder)
            return
        space = self._tablespace(self.disk, folder) if self.disk else ""
        self.database = template.copy(folder)
        self._stack.callback(self.database.drop)
        if space:
            _execute(f'ALTER DATABASE "{self._name}" SET TABLESPACE {space}')

    def close(self) -> None:
        self._stack.close()

    def _tablespace(self, disk: Disk, folder: Path) -> str:
        """One of PostgreSQL's own on that disk, which its user must be able to reach."""
        space = f"chaos_{uuid.uuid4().hex}"
        place = disk.folder / "tablespace"
        place.mkdir()
        folder.chmod(0o711)
        subprocess.run(["chown", "postgres", str(disk.folder), str(place)], check=True)
        _execute(f"CREATE TABLESPACE {space} LOCATION '{place}'")
        self._stack.callback(_execute, f"DROP TABLESPACE {space}")
        return space

    @property
    def _name(self) -> str:
        return self.database.url.rsplit("/", 1)[1]

    def url_through(self, address: str, port: int) -> str:
        """The address for a process whose link to PostgreSQL listens there."""
        with psycopg.connect(POSTGRES) as connection:
            user, password = connection.info.user, connection.info.password
        who = quote(user) + (f":{quote(password)}" if password else "")
        return f"postgresql://{who}@{address}:{port}/{self._name}"

    def hold_lock(self, release: threading.Event) -> None:
        """SQLite: be another writer until `release` is set. To be run in a thread of its own."""
        file = self.database.url.removeprefix("sqlite:///")
        connection = sqlite3.connect(file, timeout=LOCK_PATIENCE_SECONDS, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            release.wait()
        finally:
            connection.close()


def postgres_address() -> tuple[str, int]:
    """A host, or the folder of its socket, and the port."""
    with psycopg.connect(POSTGRES) as connection:
        return connection.info.host, connection.info.port


def _execute(statement: str) -> None:
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(statement)
