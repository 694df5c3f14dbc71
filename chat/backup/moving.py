"""The steps of a move: an archive on disk, and from it one table after the other, so that a move goes on."""

import json
import os
import shutil
from pathlib import Path

from django.utils import timezone

from chat.limits import MEGABYTE

from . import content
from .archive import SPARE_BYTES, Archive, ArchiveWriter, BackupProgress, Manifest
from .content import Counted
from .database import Database
from .move_state import MOVE
from .tables import BackupError

GONE = "{} is not the archive with which the move began. Use a new and migrated database."
OTHER_SOURCE = "The database holds a part of a move from {}. Go on from there, or use another one."
NO_SPACE = "The move needs up to {:,} MB in {} for its archive, but {:,} MB are free."


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
