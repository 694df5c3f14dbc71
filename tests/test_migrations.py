"""The migrations of this version, and those that a process waits for."""

import threading

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from chat.db import locks
from chat.db.migration_status import FORMER, REPLACING, known_names


@pytest.mark.database
def test_another_process_waits_for_the_one_that_migrates(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, migrated = threading.Event(), threading.Event()
    monkeypatch.setattr(locks, "_say", lambda _words: waits.set())

    def prepare() -> None:
        with locks.migrating(connection):  # that of this thread
            assert migrated.is_set()
        connection.close()

    waiting = threading.Thread(target=prepare)
    with locks.migrating(connection):
        waiting.start()
        assert waits.wait(20)
        migrated.set()
    waiting.join(20)
    assert not waiting.is_alive()


def test_known_names_are_those_of_the_loader() -> None:
    loader = MigrationLoader(None)
    assert known_names() == set(loader.disk_migrations or ())
    replaced = {key: set(migration.replaces) for key, migration in loader.replacements.items()}
    assert {key for key in replaced if key[0] == "chat"} == REPLACING
    assert set.union(*(replaced[key] for key in REPLACING)) == FORMER
