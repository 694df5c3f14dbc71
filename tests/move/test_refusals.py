"""Refusals of a move, in words, and without a change to either database."""

import os
import sqlite3
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from chat.backup import moving
from chat.backup.sqlite import SqliteDatabase
from chat.backup.tables import BackupError
from chat.ownership.journal import ProcessLock
from tests.move.site import new_database
from tests.support.databases import Database, Template, clean_environment
from tests.support.manage import run_manage

Made = Callable[[Template, Path], Database]


def path_of(database: Database) -> Path:
    return Path(database.url.removeprefix("sqlite:///"))


def content(database: Database) -> list[list[tuple[object, ...]]]:
    """Return what a move would change first: the tables, and rows that migrations have written."""
    if not database.url.startswith("sqlite"):
        tables = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"
        return database.each(tables, "SELECT conname FROM pg_constraint ORDER BY 1")
    rows = "SELECT * FROM auth_permission ORDER BY id"
    return database.each("SELECT name FROM sqlite_schema ORDER BY 1", rows)


def refuse(folder: Path, source: str, target: Database, why: str) -> None:
    """Require that the command refuses this, and that it changes nothing in the target."""
    folder.mkdir(exist_ok=True)
    before = content(target)
    env = clean_environment(DATA_DIR=str(folder), DATABASE_URL=target.url)
    done = run_manage("move", "--from", source, **env)
    assert done.returncode == 1, done.stdout
    assert why in done.stderr
    assert "Traceback" not in done.stderr
    assert content(target) == before


@pytest.mark.parametrize("address", ["mysql://a:b@c/d", "nonsense"])
def test_an_address_of_no_database(address: str, empty: Database, tmp_path: Path) -> None:
    refuse(tmp_path / "data", address, empty, "--from is not an address")


def test_a_missing_file_is_not_made(empty: Database, tmp_path: Path) -> None:
    refuse(tmp_path / "data", f"sqlite:///{tmp_path}/none.sqlite3", empty, "There is no database")
    assert not (tmp_path / "none.sqlite3").exists()


def test_a_server_that_cannot_be_reached_and_no_password_is_said(empty: Database, tmp_path: Path) -> None:
    source = "postgresql://chat:verysecret@127.0.0.1:9/chat"
    refuse(tmp_path / "data", source, empty, "Connection refused")
    env = clean_environment(DATA_DIR=str(tmp_path / "data"), DATABASE_URL=empty.url)
    assert "verysecret" not in run_manage("move", "--from", source, **env).stderr


def test_the_same_postgresql_under_another_name(postgres: Callable[[], Database], tmp_path: Path) -> None:
    database = postgres()
    refuse(
        tmp_path / "data",
        f"{database.url}?application_name=other",
        database,
        "is the database that DATABASE_URL",
    )


@pytest.mark.parametrize(
    ("made", "why"),
    [(new_database, "Run `manage.py migrate`"), (Template.copy, "is not empty: it has rows in")],
    ids=["without tables", "with people"],
)
def test_a_postgresql_that_is_no_target(
    made: Callable[[Template, Path], Database],
    why: str,
    site: Database,
    on_postgres: Template,
    tmp_path: Path,
) -> None:
    database = made(on_postgres, tmp_path)
    try:
        refuse(tmp_path / "data", site.url, database, why)
    finally:
        database.drop()


def test_a_server_of_this_machine(site: Database, empty: Database, tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "data" / "workers", uuid.uuid4())
    try:
        refuse(tmp_path / "data", site.url, empty, "A server is running with the DATA_DIR")
    finally:
        lock.release()


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_file_that_is_open(side: str, site: Database, empty: Database, tmp_path: Path) -> None:
    session = sqlite3.connect(path_of(site if side == "source" else empty), isolation_level=None)
    try:
        session.execute("SELECT * FROM chat_user").fetchall()
        session.execute("BEGIN")
        session.execute("SELECT COUNT(*) FROM chat_user").fetchall()
        refuse(tmp_path / "data", site.url, empty, "Stop it first.")
    finally:
        session.close()


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_server_of_another_machine(
    side: str, empty: Database, postgres: Callable[[], Database], tmp_path: Path
) -> None:
    there = postgres()
    there.rows(
        "INSERT INTO chat_worker (id, channel, host, pid, heartbeat_at) "
        f"VALUES ('{uuid.uuid4()}', '', 'elsewhere', 7, now() + interval '1 minute')"
    )
    source, target = (there, empty) if side == "source" else (empty, there)
    refuse(tmp_path / "data", source.url, target, "elsewhere:7 is using this database")


# In this process, since they need no other.


def movable(source: Database, target: Database) -> None:
    sides = (SqliteDatabase(path_of(source), is_source=True), SqliteDatabase(path_of(target)))
    try:
        moving.require_movable(*sides, sides[0].tables())
        moving.require_empty(sides[1], sides[0].tables())
    finally:
        for side in sides:
            side.close()


def test_every_table_of_a_site_is_known(site: Database, empty: Database) -> None:
    movable(site, empty)


CHANGES = {
    "an unknown table": ("CREATE TABLE chat_notes (text text)", ": chat_notes. Remove them"),
    "an unknown column": ("ALTER TABLE chat_tag ADD COLUMN color text", "chat_tag.color"),
    "a migration too few": (
        "DELETE FROM django_migrations WHERE app = 'chat' AND name LIKE '0003%'",
        "lacks 1 migrations, such as chat.0003",
    ),
    "a migration too many": (
        "INSERT INTO django_migrations (app, name, applied) VALUES ('chat', '9999_later', '2027-01-01')",
        "of another version of the chat, which has the migration chat.9999_later",
    ),
    "a half moved one": ("CREATE TABLE chat_move (source text)", "itself the target"),
    "a reference to nothing": (
        "UPDATE chat_message SET parent_id = 'f' WHERE parent_id IS NOT NULL",
        "1 rows of chat_message refer to rows of chat_message",
    ),
}


@pytest.mark.parametrize(
    ("side", "change"),
    [*(("source", change) for change in CHANGES), ("target", "a migration too few"),
     ("target", "a migration too many")],
)  # fmt: skip
def test_a_side_that_cannot_be_moved(side: str, change: str, site: Database, empty: Database) -> None:
    statement, why = CHANGES[change]
    (site if side == "source" else empty).rows(statement)
    with pytest.raises(BackupError, match=why):
        movable(site, empty)


@pytest.mark.parametrize(
    ("made", "why"),
    [(new_database, r"lacks [0-9]+ migrations"), (Template.copy, "is not empty: it has rows in")],
    ids=["without tables", "with people"],
)
def test_a_file_that_is_no_target(
    made: Made, why: str, site: Database, sqlite: Template, tmp_path: Path
) -> None:
    with pytest.raises(BackupError, match=why):
        movable(site, made(sqlite, tmp_path))


def test_the_same_file_under_another_name(site: Database, tmp_path: Path) -> None:
    os.link(path_of(site), tmp_path / "link.sqlite3")
    with pytest.raises(BackupError, match="is the database that DATABASE_URL names"):
        movable(site, Database(f"sqlite:///{tmp_path}/link.sqlite3"))
