"""Backup of SQLite: one snapshot, by SQLite's own backup interface, while servers write to the database.

https://www.sqlite.org/backup.html
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from . import access, integrity
from .archive import SQLITE_MEMBER, Archive, ArchiveWriter, BackupError, BackupProgress, pieces_of

COPIED_PAGES = 2_048  # database pages copied between two progress reports
# What no migration makes: views, and triggers that do more than refuse a change of the readings.
FOREIGN = """
SELECT type, name FROM sqlite_schema WHERE type = 'view' OR type = 'trigger' AND NOT (
    sql LIKE '% BEGIN SELECT RAISE(ABORT, ''a reading is never changed''); END'
    AND length(sql) - length(replace(sql, ';', '')) = 1
)
"""
SIDE_FILES = ("-wal", "-shm", "-journal")


def dump(database: Path, archive: ArchiveWriter, progress: BackupProgress) -> None:
    """Copy the database to a temporary file beside the archive, verify the copy, and pack it.

    Raises BackupError: when the database is damaged, or the copy differs from it in its numbers of rows.
    """
    copy = Path(f"{archive.path}.database")
    try:
        rows = _copy(database, copy, progress)
        if found := integrity.damage(copy, thorough=True):
            raise BackupError(f"The database is damaged ({found}). {integrity.DAMAGE_ADVICE}")
        with closing(sqlite3.connect(copy)) as session:
            archive.manifest.migrations = session.execute(
                "SELECT app, name FROM django_migrations ORDER BY id"
            ).fetchall()
            if _count(session) != rows:
                raise BackupError("The copy does not hold what the database held.")
        archive.manifest.rows = rows
        archive.add(SQLITE_MEMBER, _reported(copy, progress))
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise BackupError(f"The database is damaged ({error}). {integrity.DAMAGE_ADVICE}") from error
    finally:
        for suffix in ("", *SIDE_FILES):
            Path(f"{copy}{suffix}").unlink(missing_ok=True)


def _copy(database: Path, copy: Path, progress: BackupProgress) -> dict[str, int]:
    """Copy the database. Return the number of rows by table, from the same snapshot."""

    def report(status: int, remaining: int, total: int) -> None:
        progress("copying the database", total - remaining, total)

    os.close(os.open(copy, os.O_CREAT | os.O_EXCL, 0o600))
    with closing(_open(database)) as source, closing(sqlite3.connect(copy)) as target:
        # The open transaction keeps all steps in one snapshot of the database, and does not block writers.
        source.execute("BEGIN")
        rows = _count(source)
        source.backup(target, pages=COPIED_PAGES, progress=report)
        source.execute("ROLLBACK")
        target.execute("PRAGMA journal_mode=DELETE")  # no side files: the copy is one file
    return rows


def _open(database: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(database))}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=20, isolation_level=None)


def _count(session: sqlite3.Connection) -> dict[str, int]:
    tables = session.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
    )
    names = [name for (name,) in tables.fetchall() if not name.startswith("sqlite_")]
    return {name: session.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in names}  # noqa: S608


def _reported(copy: Path, progress: BackupProgress) -> Iterator[bytes]:
    total, done = copy.stat().st_size, 0
    for piece in pieces_of(copy):
        yield piece
        done += len(piece)
        progress("packing the database", done, total)


def unpack(archive: Archive, path: Path) -> None:
    """Extract the backup's database into a new file and check all of it. Raises BackupError: when damaged."""
    archive.extract(SQLITE_MEMBER, path)
    if found := integrity.damage(path, thorough=True):
        raise BackupError(f"The database in the backup is damaged: {found}.")
    with closing(sqlite3.connect(path)) as session:
        if found := session.execute(FOREIGN).fetchone():  # it could undo what `access` removes
            raise BackupError("The backup's database has a {} that no version made: {}.".format(*found))
        if _count(session) != archive.manifest.rows:
            raise BackupError("The database in the backup does not hold the rows that its manifest lists.")


def close_access(new: Path, former: Path) -> list[str]:
    """Do what `access` says in the database `new`, which is to replace `former`. Return its sentences."""
    with closing(sqlite3.connect(new, isolation_level=None)) as session:
        sentences = access.close(session.execute, _count(session))
        if has_data(former):
            try:
                session.execute("ATTACH ? AS former", [f"file:{quote(str(former))}?mode=ro"])
                sentences += access.older(session.execute, "former")
            except sqlite3.DatabaseError:
                sentences.append("Passwords and API keys were not compared: the former database is damaged.")
    return sentences


def is_used(database: Path) -> bool:
    """Return True if another process has the database open."""
    if not database.exists():
        return False
    try:
        with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as session:
            session.execute("PRAGMA locking_mode=EXCLUSIVE")
            session.execute("BEGIN EXCLUSIVE")
            session.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
    except sqlite3.DatabaseError:
        return False  # damaged, which is a reason to restore
    return False


def dangling(database: Path) -> str:
    """Return a description of rows whose foreign keys refer to missing rows; "" if there are none."""
    with closing(_open(database)) as session:
        row = session.execute('SELECT "table", parent, COUNT(*) FROM pragma_foreign_key_check').fetchone()
    return f"{row[2]} rows of {row[0]} refer to rows of {row[1]} that are not there" if row[2] else ""


def has_data(database: Path) -> bool:
    """Return True if there is a user, so that a restore would replace data, or if the file is unreadable."""
    if not database.is_file() or not database.stat().st_size:
        return False
    try:
        with closing(_open(database)) as session:
            return any(count for name, count in _count(session).items() if name == "chat_user")
    except sqlite3.DatabaseError:
        return True


def replace(database: Path, new: Path, aside: Path) -> None:
    """Replace the database by `new`, and keep the old one, with its side files, as `aside`.

    The write-ahead log is first checkpointed into the old file, or else moved with it, because it must never
    be applied to the new one.
    """
    if database.exists():
        try:
            with closing(sqlite3.connect(database, timeout=20)) as session:
                session.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError:
            pass  # damaged: its side files move with it below
        os.link(database, aside)
        for suffix in SIDE_FILES:
            side = Path(f"{database}{suffix}")
            if side.exists():
                side.replace(f"{aside}{suffix}")
    os.replace(new, database)
    _sync(database.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
