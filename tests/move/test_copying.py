"""The copy of the rows, interrupted after any batch."""

from pathlib import Path

import pytest

from chat.backup.move import copying, state, verification
from chat.backup.move.checks import require_empty
from chat.backup.move.errors import MoveError
from chat.backup.move.sqlite import SqliteDatabase
from chat.backup.move.state import MoveState
from chat.backup.move.tables import Table, moved_tables
from tests.support.databases import Database


class Interruption(BaseException):
    """Raised in place of a signal."""


def opened(database: Database, *, is_source: bool) -> SqliteDatabase:
    return SqliteDatabase(Path(database.url.removeprefix("sqlite:///")), is_source=is_source)


def copy_until(
    batches: int, source: SqliteDatabase, target: SqliteDatabase, tables: list[Table]
) -> MoveState:
    """Copy on, and stop after so many batches. Return the record as it was when this began."""
    left, record = batches, state.load(target, source.name)

    def count(rows: int) -> None:
        nonlocal left
        left -= rows > 0
        if not left:
            raise Interruption

    copying.copy(source, target, tables, record, count)
    return record


@pytest.mark.parametrize(("rows", "chars"), [(1, 10**6), (7, 10**6), (5_000, 10)])
def test_each_row_is_copied_once_however_often_it_is_interrupted(
    rows: int, chars: int, site: Database, empty: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "COPY_BATCH_ROWS", rows)
    monkeypatch.setattr(copying, "COPY_BATCH_CHARS", chars)
    source, target, tables = opened(site, is_source=True), opened(empty, is_source=False), moved_tables()
    copying.begin(source, target, tables)
    interruptions, is_done = 0, False
    while not is_done:
        try:
            copy_until(5, source, target, tables)
            is_done = True
        except Interruption:
            interruptions += 1
            target.close()  # as the end of the process does
    assert interruptions > 4
    found = list(verification.compare(source, target, tables, lambda _: None))
    assert [each.table for each in found if not each.is_same] == []
    assert sum(each.target.rows for each in found) == sum(state.load(target, source.name).copied.values())
    source.close()
    target.close()


def test_a_batch_is_there_with_its_place_or_not_at_all(site: Database, empty: Database) -> None:
    source, target, tables = opened(site, is_source=True), opened(empty, is_source=False), moved_tables()
    copying.begin(source, target, tables)
    empty.rows(
        "CREATE TRIGGER full BEFORE INSERT ON chat_message BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    with pytest.raises(MoveError, match="The table chat_message was not copied whole: disk full"):
        copying.copy(source, target, tables, state.load(target, source.name), lambda _: None)
    empty.rows("DROP TRIGGER full")
    assert "chat_message" not in state.load(target, source.name).places
    copying.copy(source, target, tables, state.load(target, source.name), lambda _: None)
    assert all(each.is_same for each in verification.compare(source, target, tables, lambda _: None))
    source.close()
    target.close()


def test_rows_of_a_servers_first_start_are_replaced(site: Database, empty: Database) -> None:
    empty.each(
        "INSERT INTO chat_setuplink (id, token, created) VALUES (1, 'theirs', '2027-01-01')",
        "INSERT INTO chat_maintenancetask (name) VALUES ('sweep'), ('prune')",
        "INSERT INTO chat_catalogstate (id, version, error) VALUES (1, 1, '')",
    )
    source, target, tables = opened(site, is_source=True), opened(empty, is_source=False), moved_tables()
    require_empty(target, tables)
    copying.begin(source, target, tables)
    copying.copy(source, target, tables, state.load(target, source.name), lambda _: None)
    assert all(each.is_same for each in verification.compare(source, target, tables, lambda _: None))
    source.close()
    target.close()


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
    sides = opened(Database(f"sqlite:///{filled}"), is_source=True), opened(site, is_source=True)
    found = list(verification.compare(*sides, moved_tables(), lambda _: None))
    assert [each.table for each in found if not each.is_same] == [table]
    for side in sides:
        side.close()
