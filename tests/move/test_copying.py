"""The archive of a move, the copy from it, interrupted in any table, and the comparison."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chat.backup import content, moving
from chat.backup.archive import ArchiveWriter, Manifest
from chat.backup.moving import require_empty
from chat.backup.sqlite import SqliteDatabase
from chat.backup.tables import BackupError
from tests.support.databases import Database

FULL = "CREATE TRIGGER full BEFORE INSERT ON chat_message BEGIN SELECT RAISE(ABORT, 'disk full'); END"


class Interruption(BaseException):
    """Raised in place of a signal."""


class Move:
    """A move from one file to another, in this process."""

    def __init__(self, source: Database, target: Database, archive: Path) -> None:
        self.source, self.target, self.archive = opened(source), opened(target), archive
        self.tables = self.source.tables()

    def begin(self) -> None:
        moving.begin(self.source, self.target, self.archive, lambda *_: None)

    def go_on(self, progress: Callable[[str, int, int], None] = lambda *_: None) -> None:
        moving.go_on(self.source, self.target, self.archive, progress)

    def differences(self) -> list[str]:
        found = moving.compare(self.source, self.target, self.tables, lambda rows: rows)
        return [each.table for each in found if not each.is_same]


def opened(database: Database) -> SqliteDatabase:
    return SqliteDatabase(Path(database.url.removeprefix("sqlite:///")))


@pytest.fixture
def move(site: Database, empty: Database, tmp_path: Path) -> Move:
    return Move(site, empty, tmp_path / "move.zip")


def test_each_row_is_copied_once_however_often_it_is_interrupted(
    move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "REPORTED_ROWS", 1)
    move.begin()
    limit, interruptions, is_done = 0, 0, False

    def interrupt(_: str, done: int, total: int) -> None:
        if done >= limit:
            raise Interruption

    while not is_done:
        limit += 40  # the largest table has fewer rows, or it would never be whole
        try:
            move.go_on(interrupt if interruptions < 5 else lambda *_: None)
            is_done = True
        except Interruption:
            interruptions += 1
            move.target.close()  # as the end of the process does
    assert interruptions == 5
    assert move.differences() == []


def test_a_table_is_filled_whole_or_not_at_all(move: Move, empty: Database) -> None:
    move.begin()
    empty.rows(FULL)
    with pytest.raises(BackupError, match="The table chat_message was not copied whole: disk full"):
        move.go_on()
    empty.rows("DROP TRIGGER full")
    assert empty.value("SELECT COUNT(*) FROM chat_message") == 0
    move.go_on()
    assert move.differences() == []


def test_a_move_goes_on_from_its_own_archive_only(move: Move) -> None:
    move.begin()
    move.archive.unlink()
    with pytest.raises(BackupError, match="No such file"):
        move.go_on()
    with ArchiveWriter(move.archive, Manifest(datetime.now(UTC))):
        pass
    with pytest.raises(BackupError, match="is not the archive with which the move began"):
        move.go_on()


def test_a_move_needs_space_for_its_archive(move: Move, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "SPARE_BYTES", 10**15)
    with pytest.raises(BackupError, match="The move needs up to"):
        move.begin()
    assert not move.archive.exists()


def test_rows_of_a_servers_first_start_are_replaced(move: Move, empty: Database) -> None:
    empty.each(
        "INSERT INTO chat_setuplink (id, token, created) VALUES (1, 'theirs', '2027-01-01')",
        "INSERT INTO chat_maintenancetask (name) VALUES ('sweep'), ('prune')",
        "INSERT INTO chat_catalogstate (id, version, error) VALUES (1, 1, '')",
    )
    require_empty(move.target, move.tables)
    move.begin()
    move.go_on()
    assert move.differences() == []


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("CREATE TABLE chat_notes (text text)", "does not know, and their data .* chat_notes"),
        ("CREATE TABLE chat_notes (text money)", "chat_notes.text is of the type money"),
    ],
)
def test_a_backup_is_refused_that_could_not_be_restored(
    statement: str, why: str, site: Database, tmp_path: Path
) -> None:
    site.rows(statement)
    with (
        ArchiveWriter(tmp_path / "x.zip", Manifest(datetime.now(UTC))) as archive,
        pytest.raises(BackupError, match=why),
    ):
        content.write(opened(site), archive, lambda *_: None)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE chat_message SET text = text || ' ' WHERE role = 'user'",
        "UPDATE chat_run SET neurons = neurons + 1e-12 WHERE neurons IS NOT NULL",
        "UPDATE chat_conversation SET parameters = '{}'",
        "UPDATE chat_conversation SET updated = '2026-01-22 12:00:00.123457'",
        "UPDATE chat_call SET worker_id = run_id",
        "UPDATE chat_invite SET note = ''",
        "UPDATE chat_user SET username = 'bop' WHERE username = 'bob'",
        "UPDATE axes_accessattempt SET ip_address = '2001:db8::2'",
        "UPDATE axes_accessattempt SET username = ''",
        "DELETE FROM chat_tag",
        "INSERT INTO chat_maintenancetask (name) VALUES ('another')",
    ],
)
def test_every_change_is_found(change: str, site: Database, filled: Path) -> None:
    site.rows(change)
    table = (
        change.removeprefix("UPDATE ").removeprefix("DELETE FROM ").removeprefix("INSERT INTO ").split()[0]
    )
    move = Move(Database(f"sqlite:///{filled}"), site, filled)
    assert move.differences() == [table]
