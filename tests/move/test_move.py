"""A site moves from SQLite to PostgreSQL and back, also when it is interrupted, and no value changes."""

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.move.site import NEVER_FILLED, compared, new_database
from tests.support.databases import ROOT, Database, Template, clean_environment
from tests.support.manage import run_manage
from tests.support.server import Server
from tests.tools.bench.site import Size, fill

REBUILT = ("chat.searchdocument", "chat.searchbuild")
REFERENCES = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY 1, 2"
NOT_RESTORED = ("django_session", "chat_invite", "chat_sharedlink")
UNFINISHED = "SELECT COUNT(*) FROM chat_move"
SIZE = Size(20, 1_000, 20_000, 200, 1_000, 100, 200, 20)
CALLS = "SELECT COUNT(*) FROM chat_call"
MESSAGES = "SELECT COUNT(*) FROM chat_message"
# The start of another ASGI server, and the first request to one without `lifespan`.
OTHER_SERVER = """
import asyncio
from chatsite.asgi import application

async def start():
    events = []
    async def receive():
        return {"type": "lifespan.startup"}
    async def send(message):
        events.append(message)
        if message["type"] == "lifespan.startup.complete":
            raise SystemExit("it has started")
    await application({"type": "lifespan"}, receive, send)
    print(events)
    await application({"type": "http", "path": "/"}, receive, send)

asyncio.run(start())
"""


def manage(folder: Path, database: Database, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    return run_manage(*arguments, **clean_environment(DATA_DIR=str(folder), DATABASE_URL=database.url))


def move(folder: Path, source: Database, target: Database, *more: str) -> str:
    done = manage(folder, target, "move", "--from", source.url, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(process: subprocess.CompletedProcess[str], why: str, code: int = 1) -> None:
    assert process.returncode == code, process.stdout
    assert why in process.stderr
    assert "Traceback" not in process.stderr


def dumped(folder: Path, database: Database) -> list[str]:
    """Every row of every model, as Django reads it."""
    excluded = [f"--exclude={name}" for name in REBUILT]
    done = manage(folder, database, "dumpdata", *excluded)
    assert done.returncode == 0, done.stderr
    return sorted(json.dumps(row, sort_keys=True) for row in json.loads(done.stdout))


def digest(database: Database) -> str:
    return hashlib.sha256(Path(database.url.removeprefix("sqlite:///")).read_bytes()).hexdigest()


def next_user(database: Database) -> int:
    """Return the number that the next user would get; leaves nothing but a gap."""
    values = "'', 'next', '', '', 'next@example.org', false, true, false, '2026-01-01'"
    names = "password, username, first_name, last_name, email, is_superuser, is_active, is_staff, date_joined"
    number = database.value(f"INSERT INTO chat_user ({names}) VALUES ({values}) RETURNING id")
    database.rows("DELETE FROM chat_user WHERE username = 'next'")
    return number


def test_a_site_moves_to_postgresql_and_back(
    site: Database, empty: Database, postgres: Callable[[], Database], sqlite: Template, tmp_path: Path
) -> None:
    folder, there = tmp_path / "data", postgres()
    original, before, rules = dumped(folder, site), digest(site), there.rows(REFERENCES)
    output = move(folder, site, there)
    found = compared(output)
    assert {table for table, (rows, _, _) in found.items() if rows == "0"} == NEVER_FILLED
    assert {verdict for _, _, verdict in found.values()} == {"same"}
    assert digest(site) == before
    assert dumped(folder, there) == original
    assert there.rows(REFERENCES) == rules
    assert len(rules) > 20
    refused(manage(folder, there, "search_index", "--verify"), "is still being built")
    assert "is complete: 3 documents" in manage(folder, there, "search_index").stdout
    assert "agrees with all 3 documents" in manage(folder, there, "search_index", "--verify").stdout

    # The number of a deleted account is not given again, because the log of readings still names it.
    gone = site.value("SELECT seq FROM sqlite_sequence WHERE name = 'chat_user'")
    assert gone > site.value("SELECT MAX(id) FROM chat_user")
    assert next_user(there) == gone + 1

    move(folder, there, empty)
    assert dumped(folder, empty) == original
    assert "is complete: 3 documents" in manage(folder, empty, "search_index").stdout
    assert manage(folder, empty, "check", "--integrity").returncode == 0
    assert next_user(empty) == gone + 2

    sqlite.static_for(folder)
    server = Server(folder, there, SECRET_KEY=sqlite.secret_key, OPENAI_BASE_URL="http://127.0.0.1:9/v1",
                    OPENAI_MODELS="m")  # fmt: skip
    try:
        server.start()
        assert "Boats" in server.person("alice").get("/").text  # with the session from before
    finally:
        server.end()


def test_a_changed_value_is_found(site: Database, postgres: Callable[[], Database], tmp_path: Path) -> None:
    folder, there = tmp_path / "data", postgres()
    move(folder, site, there)
    assert "DIFFERENT" not in move(folder, site, there, "--verify")
    refused(manage(folder, there, "move", "--from", site.url), "is not empty: it has rows in")
    there.rows("UPDATE chat_message SET text = replace(text, 'Red', 'Rad') WHERE role = 'assistant'")
    found = manage(folder, there, "move", "--from", site.url, "--verify")
    refused(found, "The databases differ in chat_message.")
    different = {table: rows for table, rows in compared(found.stdout).items() if rows[2] == "DIFFERENT"}
    assert different == {"chat_message": ("2", "2", "DIFFERENT")}


@pytest.fixture(scope="module")
def large(sqlite: Template, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of which a move is interrupted before the messages are copied."""
    folder = tmp_path_factory.mktemp("large")
    fill(sqlite.copy(folder), SIZE)
    return folder / "db.sqlite3"


def interrupted(folder: Path, source: Database, target: Database, signal_: int) -> tuple[int, str]:
    """Begin to move, and send the signal once the first messages are there. Return exit code and errors."""
    errors = ""
    with subprocess.Popen(
        [sys.executable, "manage.py", "move", "--from", source.url],
        cwd=ROOT,
        env=clean_environment(DATA_DIR=str(folder), DATABASE_URL=target.url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts the tests in the background has them, and what they start, ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr
        for line in process.stderr:
            errors += line
            if line.startswith("copying: 3"):
                process.send_signal(signal_)
                break
        errors += process.stderr.read()
    return process.returncode, errors


def counted(stderr: str) -> int:
    """Return the number of rows in the first line of a command's progress."""
    return int(stderr.partition("(")[2].partition(" of")[0].replace(",", ""))


@pytest.mark.parametrize("direction", ["to postgresql", "to sqlite"])
def test_a_killed_move_goes_on(
    large: Path, direction: str, empty: Database, postgres: Callable[[], Database], tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    source, target = Database(f"sqlite:///{large}"), postgres()
    rules = target.rows(REFERENCES)
    if direction == "to sqlite":
        move(folder, source, target)
        source, target = target, empty
    code, errors = interrupted(folder, source, target, signal.SIGKILL)
    assert code == -signal.SIGKILL, errors
    assert target.value(UNFINISHED) == 1
    assert target.value(CALLS) == source.value(CALLS) > 0
    assert target.value(MESSAGES) == 0
    assert (folder / "move.zip").stat().st_mode & 0o777 == 0o600

    for command in ("serve", "migrate"):
        refused(manage(folder, target, command), "has not ended")
    refused(manage(folder, target, "backup", str(tmp_path / "half.zip")), "has not ended")
    other = manage(folder, target, "shell", "--no-imports", "-c", OTHER_SERVER)
    assert "lifespan.startup.failed" in other.stdout
    assert "has not ended" in other.stdout
    assert "ImproperlyConfigured: The database is the target of a move" in other.stderr
    third = Database(f"sqlite:///{tmp_path}/third.sqlite3")
    shutil.copy(large, tmp_path / "third.sqlite3")
    refused(manage(folder, target, "move", "--from", third.url), "a part of a move from")
    refused(manage(folder, third, "move", "--from", target.url), "itself the target of a move")

    done = manage(folder, target, "move", "--from", source.url)
    assert done.returncode == 0, done.stderr
    assert counted(done.stderr) > 500
    assert "packing" not in done.stderr
    assert not (folder / "move.zip").exists()
    assert {verdict for _, _, verdict in compared(done.stdout).values()} == {"same"}
    assert target.value(MESSAGES) == source.value(MESSAGES) > 5_000
    if direction == "to postgresql":
        assert target.rows(REFERENCES) == rules
    refused(manage(folder, target, "move", "--from", source.url), "is not empty")


def test_a_change_between_two_parts_of_a_move_is_found(
    large: Path, postgres: Callable[[], Database], tmp_path: Path
) -> None:
    folder, target = tmp_path / "data", postgres()
    folder.mkdir()
    code, errors = interrupted(folder, Database(f"sqlite:///{large}"), target, signal.SIGINT)
    assert code == 130, errors
    assert errors.rstrip().endswith("CommandError: Stopped. Run the same command again to go on.")
    target.rows("UPDATE chat_call SET neurons = 2 WHERE id = (SELECT id FROM chat_call LIMIT 1)")
    refused(
        manage(folder, target, "move", "--from", f"sqlite:///{large}"), "The databases differ in chat_call."
    )
    refused(manage(folder, target, "serve"), "has not ended")
    assert target.rows(REFERENCES) == []


def test_characters_that_postgresql_refuses_are_replaced(
    site: Database, postgres: Callable[[], Database], tmp_path: Path
) -> None:
    there: Any = postgres()
    site.rows("UPDATE chat_message SET text = 'a' || char(0) || 'b' WHERE role = 'user'")
    halves = r'{"stop": "\ud800\ud83d\ude00 \u0000 \\u0000"}'
    site.rows(f"UPDATE chat_conversation SET parameters = '{halves}'")
    output = move(tmp_path / "data", site, there)
    assert "2 values held a NUL or half a character" in output
    assert there.value("SELECT text FROM chat_message WHERE role = 'user'") == "a\ufffdb"
    assert there.value("SELECT parameters FROM chat_conversation") == {"stop": "\ufffd😀 \ufffd \\u0000"}


def test_a_value_that_does_not_fit_is_named(
    site: Database, postgres: Callable[[], Database], tmp_path: Path
) -> None:
    site.rows(f"UPDATE chat_tag SET name = '{'x' * 41}'")
    completed = manage(tmp_path / "data", postgres(), "move", "--from", site.url)
    refused(completed, "chat_tag")
    assert "character varying(40)" in completed.stderr


def test_from_one_file_to_another(site: Database, empty: Database, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    move(folder, site, empty)
    assert dumped(folder, empty) == dumped(folder, site)


def test_a_backup_of_one_database_restores_into_the_other(
    site: Database, sqlite: Template, on_postgres: Template, tmp_path: Path
) -> None:
    folder, there = tmp_path / "data", new_database(on_postgres, tmp_path)
    back = new_database(sqlite, tmp_path)
    site.each(*(f"DELETE FROM {table}" for table in NOT_RESTORED))
    gone = site.value("SELECT seq FROM sqlite_sequence WHERE name = 'chat_user'")
    try:
        for number, (source, target) in enumerate([(site, there), (there, back)]):
            archive = str(tmp_path / f"{number}.zip")
            for database, *command in ((source, "backup", archive), (target, "restore", archive)):
                done = manage(folder, database, *command)
                assert done.returncode == 0, done.stderr
            assert dumped(folder, target) == dumped(folder, site)
            assert manage(folder, target, "migrate", "--check").returncode == 0
        assert next_user(there) == next_user(back) == gone + 1
        assert "is complete: 3 documents" in manage(folder, back, "search_index").stdout
    finally:
        there.drop()
