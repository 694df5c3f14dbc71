"""A damaged database is noticed at the start, with a sentence that says what to do."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from chat.backup import integrity
from tests.support.databases import Template, clean_environment
from tests.support.manage import run_manage


@pytest.fixture
def sound(template: Template, tmp_path: Path) -> Path:
    """A file of a few hundred pages, all of them in the file itself."""
    if template.kind != "sqlite":
        pytest.skip("PostgreSQL looks after its own files")
    path = tmp_path / "db.sqlite3"
    shutil.copy(template.folder / "template.sqlite3", path)
    connection = sqlite3.connect(path)
    rows = [(f"{number:032}", "x" * 2_000, "2030-01-01") for number in range(500)]
    connection.executemany("INSERT INTO django_session VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def test_a_sound_file_and_none_at_all_are_fine(sound: Path, tmp_path: Path) -> None:
    assert integrity.damage(sound) == ""
    assert integrity.damage(sound, thorough=True) == ""
    assert integrity.damage(tmp_path / "none") == ""
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("where", "command"), [("header", "serve"), ("middle", "serve --prepare"), ("end", "migrate")]
)
def test_a_damaged_one_stops_the_start_with_what_to_do(sound: Path, where: str, command: str) -> None:
    if where == "end":
        sound.write_bytes(sound.read_bytes()[: sound.stat().st_size // 2])
    else:
        overwrite(sound, 0 if where == "header" else sound.stat().st_size // 2, b"garbage!" * 4_096)
    before = sound.read_bytes()
    done = run_manage(*command.split(), **clean_environment(DATA_DIR=str(sound.parent)))
    assert done.returncode == 1, done.stdout
    assert f"The database {sound} is damaged (" in done.stderr
    assert "manage.py restore" in done.stderr
    assert "Traceback" not in done.stderr
    assert sound.read_bytes() == before


def test_a_look_ends_in_time_and_always_reads_the_header(
    sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity, "PROGRESS_INSTRUCTIONS", 1)
    overwrite(sound, sound.stat().st_size // 2, b"garbage!" * 4_096)
    assert integrity.damage(sound, 1e-9) == ""
    assert integrity.damage(sound, 60.0)
    overwrite(sound, 0, b"garbage!")
    assert "not a database" in integrity.damage(sound, 1e-9)
