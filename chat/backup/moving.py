"""The steps of a move: checks, an archive on disk, from it one table after the other, and a comparison.

A move that was stopped goes on after the last whole table.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from django.utils import timezone

from chat.db import migration_status
from chat.limits import MEGABYTE

from . import content, servers
from .archive import SPARE_BYTES, Archive, ArchiveWriter, BackupProgress, Manifest
from .content import Counted, require_known
from .database import Database
from .integrity import MOVE
from .tables import COMPARABLE, STORABLE_IN_POSTGRES, BackupError, Table, TableRow, converter

GONE = "{} is not the archive with which the move began. Use a new and migrated database."
OTHER_SOURCE = "The database holds a part of a move from {}. Go on from there, or use another one."
NO_SPACE = "The move needs up to {:,} MB in {} for its archive, but {:,} MB are free."
# Filled by migrations or by the first start of a server. A site without people has rows in no other table.
FILLED_WITHOUT_PEOPLE = {
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "chat_catalogstate",
    "chat_maintenancetask",
    "chat_setuplink",
    "chat_sitemodel",
    "chat_worker",
    "django_content_type",
}
SAME = "--from is the database that DATABASE_URL names. Set DATABASE_URL to the new database first."
HALF_MOVED = "{} is itself the target of a move that has not ended. Move from its source."
DIGEST_BYTES = 16
DIGESTS = 1 << (8 * DIGEST_BYTES)


def require_no_server(source: Database, target: Database, folder: Path) -> None:
    """Raise BackupError if a server uses this DATA_DIR or one of the databases."""
    if reason := servers.check_process_locks(folder) or source.in_use() or target.in_use():
        raise BackupError(reason)


def require_movable(source: Database, target: Database, tables: list[Table]) -> None:
    """Raise BackupError if the databases are one, differ in their tables, or the source cannot be copied."""
    if source.identity == target.identity:
        raise BackupError(SAME)
    if MOVE in source.table_names():
        raise BackupError(HALF_MOVED.format(source.name))
    _require_migrations(source)
    _require_migrations(target)
    require_known(source, tables)
    if found := source.dangling():
        raise BackupError(f"{source.name} is damaged: {found}. A backup from before may be whole.")


def _require_migrations(database: Database) -> None:
    applied = set(database.migrations())
    if missing := sorted(migration_status.known_names() - applied):
        app, name = missing[0]
        raise BackupError(
            f"{database.name} lacks {len(missing)} migrations, such as {app}.{name}. Run `manage.py migrate` "
            "with its address in DATABASE_URL first."
        )
    if newer := migration_status.unknown(applied):
        app, name = newer[0]
        raise BackupError(
            f"{database.name} is of another version of the chat, which has the migration {app}.{name}."
        )


def require_empty(target: Database, tables: list[Table]) -> None:
    """Raise BackupError if the target has more rows than migrations and a first start write."""
    names = [table.name for table in tables if table.name not in FILLED_WITHOUT_PEOPLE]
    for name in (*names, "chat_searchdocument"):
        if target.run(f'SELECT 1 FROM "{name}" LIMIT 1'):  # noqa: S608
            raise BackupError(
                f"{target.name} is not empty: it has rows in {name}. A move fills only a database without "
                "people. To compare it with the source, use --verify."
            )


def begin(source: Database, target: Database, path: Path, progress: BackupProgress) -> None:
    """Write the archive, make the target ready and record the move. Raises BackupError."""
    free, needed = shutil.disk_usage(path.parent).free, source.size() + SPARE_BYTES
    if free < needed:
        raise BackupError(NO_SPACE.format(needed // MEGABYTE, path.parent, free // MEGABYTE))
    partial, manifest = path.with_suffix(".partial"), Manifest(timezone.now())
    partial.unlink(missing_ok=True)
    try:
        with ArchiveWriter(partial, manifest) as archive:
            content.write(source, archive, progress)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    with target.transaction():
        target.run(f"CREATE TABLE {MOVE} (source text, archive text, statements text)")
        statements = json.dumps(target.release_references())
        values = [source.name, str(manifest.created), statements]
        target.run(f"INSERT INTO {MOVE} VALUES (%s, %s, %s)", values)  # noqa: S608
        content.empty(target, manifest.tables)


def go_on(source: Database, target: Database, path: Path, progress: BackupProgress) -> None:
    """Fill the tables that have no rows yet, each in one transaction. Raises BackupError."""
    ((name, created),) = target.run(f"SELECT source, archive FROM {MOVE}")  # noqa: S608
    if name != source.name:
        raise BackupError(OTHER_SOURCE.format(name))
    with Archive(path) as archive:
        if str(archive.manifest.created) != created:
            raise BackupError(GONE.format(path))
        tables, made = archive.tables(), target.tables()
        content.require_same(tables, made)
        filled = {table.name for table in made if table.rows}
        done = sum(table.rows for table in made)
        counted = Counted("copying", tables, progress, done)
        for table in tables:
            if table.name not in filled:
                with target.transaction():
                    content.fill(target, table, counted(archive.rows(table)))


def finish(target: Database, path: Path) -> None:
    """Check the references again, let counters go on, and forget the move, in one transaction."""
    ((statements,),) = target.run(f"SELECT statements FROM {MOVE}")  # noqa: S608
    with Archive(path) as archive, target.transaction():
        content.finish(target, archive.tables())
        for statement in json.loads(statements):
            target.run(statement)
        target.run(f"DROP TABLE {MOVE}")
    target.analyze()
    path.unlink()


@dataclass(frozen=True, slots=True)
class TableContent:
    """The content of a table: `digest` depends on all values of all rows, and not on the rows' order."""

    rows: int
    digest: str
    replaced: int


@dataclass(frozen=True, slots=True)
class TableComparison:
    """A table on both sides. `replaced` values of the source held what PostgreSQL cannot hold."""

    table: str
    source: TableContent
    target: TableContent

    @property
    def is_same(self) -> bool:
        return (self.source.rows, self.source.digest) == (self.target.rows, self.target.digest)

    @property
    def replaced(self) -> int:
        return self.source.replaced - self.target.replaced


def compare(
    source: Database,
    target: Database,
    tables: list[Table],
    counted: Callable[[Iterable[TableRow]], Iterable[TableRow]],
) -> Iterator[TableComparison]:
    """Read both databases whole, and yield the comparison of each table. `counted` passes the rows on."""
    with source.snapshot(), target.snapshot():
        for table in tables:
            found = [content_of(table, counted(side.rows(table))) for side in (source, target)]
            yield TableComparison(table.name, *found)


def content_of(table: Table, rows: Iterable[TableRow]) -> TableContent:
    """Return the content of the rows. Each row has a digest; their sum is that of the table."""
    storable = converter(table.kinds, STORABLE_IN_POSTGRES)
    comparable = converter(table.kinds, COMPARABLE)
    count = total = replaced = 0
    for row in rows:
        stored = storable(row)
        if stored != row:
            replaced += sum(one != other for one, other in zip(stored, row, strict=True))
        digest = blake2b(repr(comparable(stored)).encode(), digest_size=DIGEST_BYTES)
        total += int.from_bytes(digest.digest(), "big")
        count += 1
    return TableContent(count, f"{total % DIGESTS:0{2 * DIGEST_BYTES}x}", replaced)
