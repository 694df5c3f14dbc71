"""A backup of a site that is in use, the way back, and every way in which that is refused."""

import hashlib
import json
import os
import sqlite3
import subprocess
import zipfile
from collections.abc import Callable
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command

from chat.backup import content, files, former
from chat.backup.archive import MANIFEST_FILE, Archive, ArchiveWriter, FormerManifest, Manifest
from chat.backup.sqlite import SqliteDatabase, replace
from chat.backup.tables import BackupError, ColumnKind, Table
from chat.management.commands import backup, restore
from tests.support.databases import Database, Template, clean_environment
from tests.support.databases import on_postgres as new_postgres
from tests.support.manage import run_manage
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Server

KEY = "0123456789" * 6
SLOW = "fake: words tokens=4000 delay=0.05"  # stopped by hand
MEMBER = "tables/t.jsonl"
AT = datetime(2027, 1, 1, tzinfo=UTC)
CONVERSATIONS = "SELECT COUNT(*) FROM chat_conversation"


def manage(folder: Path, database: Database, *arguments: object) -> subprocess.CompletedProcess[str]:
    env = clean_environment(DATA_DIR=str(folder), DATABASE_URL=database.url)
    return run_manage(*map(str, arguments), **env)


def done(process: subprocess.CompletedProcess[str]) -> str:
    assert process.returncode == 0, process.stderr
    return process.stdout


def refused(process: subprocess.CompletedProcess[str], why: str) -> None:
    assert process.returncode == 1
    assert why in process.stderr
    assert "Traceback" not in process.stderr


def damage(path: Path) -> Path:
    """The same backup with another byte in the middle of what its largest member holds."""
    with zipfile.ZipFile(path) as archive:
        member = max(archive.infolist(), key=lambda each: each.compress_size)
    head = 30 + len(member.filename) + 20  # of a member that may be longer than 4 GB
    data = bytearray(path.read_bytes())
    data[member.header_offset + head + member.compress_size // 2] ^= 0xFF
    path.with_suffix(".damaged").write_bytes(data)
    return path.with_suffix(".damaged")


def another(database: Database, folder: Path) -> Database:
    """A database in which nothing is."""
    if database.url.startswith("sqlite"):
        return Database(f"sqlite:///{folder}/elsewhere.sqlite3")
    return new_postgres(f"empty_{os.urandom(8).hex()}")


@pytest.mark.database
def test_a_site_in_use_is_backed_up_and_restored(
    servers: Callable[..., Server], database: Database, tmp_path: Path
) -> None:
    server = servers()
    folder, backup = server.folder, tmp_path / "site.zip"
    (folder / "secret-key").write_text(KEY)
    (folder / "secret-key").chmod(0o600)
    (folder / "media" / "a").mkdir(parents=True)
    (folder / "media" / "a" / "picture").write_bytes(b"\0\1\2")
    picture = Path("attachments") / "ab" / ("ab" * 32)
    (folder / picture).parent.mkdir(parents=True)
    (folder / picture).write_bytes(b"\3\4")
    (folder / picture).with_name(".partial-x").write_bytes(b"\3")
    alice = server.person("alice")
    stream = alice.asked("hello\tthere\\n\n\u2028 it’s “quoted”")
    with alice.ask(SLOW) as going:
        going.until(10)
        made = manage(folder, database, "backup", backup)
        assert "chat_message" not in done(made)
        assert "packing the tables: 100 %" in made.stderr
        assert alice.stop(going.run).status_code == 202
        going.to_end()
    assert backup.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob(".*partial*"))
    refused(manage(folder, database, "backup", backup), "already exists")
    assert "No damage found" in done(manage(folder, database, "check", "--integrity", "--backup", backup))
    alice.asked("after the backup")
    refused(manage(folder, database, "restore", backup, "--force"), "Stop it first")
    server.terminate()
    before = database.rows("SELECT id, text FROM chat_message ORDER BY id")
    refused(manage(folder, database, "restore", backup), "--force")
    refused(manage(folder, database, "restore", damage(backup), "--force"), "damaged")
    assert database.rows("SELECT id, text FROM chat_message ORDER BY id") == before
    (folder / "secret-key").write_text("l" * 60)
    (folder / picture).write_bytes(b"\5")
    output = done(manage(folder, database, "restore", backup, "--force"))
    assert "kept as" in output
    assert database.value(CONVERSATIONS) == 2
    assert (folder / "secret-key").read_text() == KEY
    assert (folder / picture).read_bytes() == b"\3\4"
    [kept] = folder.glob("attachments.before-restore-*")
    assert (kept / "ab" / ("ab" * 32)).read_bytes() == b"\5"
    server.start()
    assert alice.get(f"/c/{stream.conversation}/").status_code == 302  # no session of the backup is restored
    alice = server.person("anonymous")
    login = {"login": "alice", "password": PASSWORD, "csrfmiddlewaretoken": CSRF}
    assert alice.client.post("/accounts/login/", data=login).status_code == 302
    assert "it’s “quoted”" in alice.get(f"/c/{stream.conversation}/").text
    cut = alice.followed(going.run)
    assert cut.done
    assert cut.done["status"] == "interrupted"
    alice.asked("again")  # new rows find free numbers
    server.terminate()
    fresh, empty = tmp_path / "fresh", another(database, tmp_path)
    try:
        done(manage(fresh, empty, "restore", backup))
        assert empty.value(CONVERSATIONS) == 2
        assert (fresh / "media" / "a" / "picture").read_bytes() == b"\0\1\2"
        assert [path for path in (fresh / "attachments").rglob("*") if path.is_file()] == [fresh / picture]
        assert (fresh / "secret-key").stat().st_mode & 0o777 == 0o600
        assert "No damage found" in done(manage(fresh, empty, "check", "--integrity"))
        assert "No planned" in done(manage(fresh, empty, "migrate", "--plan"))
    finally:
        empty.drop()


BEFORE = """
from django.contrib.auth.models import Group
from chat.models import *
Group.objects.get(name="Reviewers").user_set.set(User.objects.filter(username__in=("carol", "dave")))
alice = User.objects.get(username="alice")
for name, user in {"kept": User.objects.get(username="bob"), "lost": alice}.items():
    key = ApiKey(user=user, name=name)
    key.generate_secret()
    key.prefix = f"chat_{name}"
    key.save()
invite, used = Invite(), Invite(used=alice.date_joined)
for each in (invite, used):
    each.generate_token()
    each.save()
talk = Conversation.objects.create(user=alice, title="Boats", model="m")
link = SharedLink(leaf=Message.objects.create(conversation=talk, role="user", text="?"), leaf_length=1)
link.generate_token()
link.save()
"""
LATER = """
from chat.models import *
alice = User.objects.get(username="alice")
alice.set_password("the second one")
alice.save()
User.objects.filter(username="bob").delete()
User.objects.filter(username="erin").update(is_staff=False)
User.objects.get(username="carol").groups.clear()
User.objects.get(username="dave").groups.get().permissions.clear()
"""


@pytest.mark.database
def test_a_restore_opens_nothing_that_was_closed(template: Template, tmp_path: Path) -> None:
    database, backup = template.copy(tmp_path), tmp_path / "site.zip"
    try:
        done(manage(tmp_path, database, "shell", "--no-imports", "-c", BEFORE))
        done(manage(tmp_path, database, "backup", backup))
        done(manage(tmp_path, database, "shell", "--no-imports", "-c", LATER))
        said = done(manage(tmp_path, database, "restore", backup, "--force"))
        left = [
            database.value(f"SELECT COUNT(*) FROM {table}") for table in ("chat_invite", "chat_sharedlink")
        ]
    finally:
        database.drop()
    assert "since the backup: 1 open invitations, 1 shared links, 6 sessions." in said
    assert "an older password again, or are no longer disabled: alice." in said
    assert "who were deleted, are here again: bob." in said
    assert "rights again that were taken from them: carol, dave, erin." in said
    assert "valid again as they were: chat_lost… of alice, chat_kept… of bob." in said
    assert left == [1, 0]  # the used invitation stays on record


def test_a_backup_that_does_not_fit_onto_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "backup")
    with Archive(path) as archive:
        archive.check_space({"tables/": tmp_path})
        monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=99_999_999))
        with pytest.raises(BackupError, match="but 99 MB are free"):
            archive.check_space({"tables/": tmp_path})


def test_a_backup_names_the_files_that_are_damaged(template: Template, tmp_path: Path) -> None:
    folder, database = tmp_path, template.copy(tmp_path)
    good = hashlib.sha256(b"good").hexdigest()
    for key, data in ((good, b"good"), ("cd" * 32, b"changed")):
        path = folder / "attachments" / key[:2] / key
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    try:
        made = manage(folder, database, "backup", tmp_path / "site.zip")
    finally:
        database.drop()
    assert "Wrote" in done(made)
    assert "are damaged" in made.stderr
    assert f"attachments/cd/{'cd' * 32}" in made.stderr
    assert good not in made.stderr


def written(path: Path, **changes: object) -> Path:
    """A small archive, its manifest changed afterwards."""
    with ArchiveWriter(path, Manifest(AT)) as archive:
        archive.add_table(Table("t", {"a": ColumnKind.INTEGER}, rows=2), [[1], [2]])
    if changes:
        with zipfile.ZipFile(path) as old:
            manifest, data = json.loads(old.read(MANIFEST_FILE)), old.read(MEMBER)
        with zipfile.ZipFile(path, "w") as new:
            new.writestr(MEMBER, data)
            new.writestr(MANIFEST_FILE, json.dumps(manifest | changes))
    return path


def former_backup(path: Path, manifest: FormerManifest, *data: bytes) -> Path:
    with ArchiveWriter(path, manifest) as archive:  # type: ignore[arg-type]
        archive.add("database.sqlite3", data)
    return path


def read(path: Path) -> None:
    with Archive(path) as archive:
        archive.verify(lambda *_: None)


def test_any_changed_byte_raises_a_backup_error(tmp_path: Path) -> None:
    """Some bytes mean nothing, such as a time; those that were written must come back as they were."""
    read(written(tmp_path / "whole.zip"))
    whole = (tmp_path / "whole.zip").read_bytes()
    path, refusals = tmp_path / "changed.zip", 0
    for position in range(len(whole)):
        for bits in (0x01, 0xFF):
            changed = bytearray(whole)
            changed[position] ^= bits
            path.write_bytes(changed)
            try:
                read(path)
            except BackupError:
                refusals += 1
    assert refusals > len(whole)


@pytest.mark.parametrize("row", [[1, 2], [], [True], [[1]], [{"a": 1}]])
def test_rows_of_another_form_are_refused(tmp_path: Path, row: list[object]) -> None:
    table = Table("t", {"a": ColumnKind.INTEGER}, rows=1)
    with ArchiveWriter(tmp_path / "odd", Manifest(AT)) as archive:
        archive.add_table(table, [row])
    with Archive(tmp_path / "odd") as opened, pytest.raises(BackupError, match="t cannot be read"):
        list(opened.rows(table))


@pytest.mark.parametrize("made", ["u (a integer)", "t (b integer)", "t (a integer, b integer)"])
def test_a_backup_of_other_tables_is_refused(tmp_path: Path, made: str) -> None:
    with closing(sqlite3.connect(tmp_path / "made")) as session:
        session.execute(f"CREATE TABLE {made}")
    with (
        Archive(written(tmp_path / "backup")) as archive,
        closing(SqliteDatabase(tmp_path / "made")) as database,
        pytest.raises(BackupError, match="other tables than its migrations make"),
    ):
        content.restore(archive, database, lambda *_: None)


def test_a_file_deleted_while_it_is_packed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "attachments" / "ab"
    gone.parent.mkdir()
    gone.touch()
    monkeypatch.setattr(Path, "exists", lambda _path: True)
    with ArchiveWriter(tmp_path / "x.zip", Manifest(AT)) as archive:
        files.dump(tmp_path, archive, lambda *_: gone.unlink())
    assert archive.manifest.members == {}


def test_a_disk_without_links_takes_a_backup_and_a_restore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "_write", lambda path, _progress: written(path) and Manifest(AT))
    monkeypatch.setattr("os.link", Mock(side_effect=PermissionError))
    call_command("backup", str(tmp_path / "site.zip"))
    assert [path.name for path in tmp_path.iterdir()] == ["site.zip"]
    read(tmp_path / "site.zip")
    new, old, aside = (tmp_path / name for name in ("new", "old", "aside"))
    new.write_text("new")
    old.write_text("")
    replace(old, new, aside)
    assert (old.read_text(), aside.read_text()) == ("new", "")


def test_a_restore_tells_when_it_could_not_replace_the_files(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(restore, "migrating", nullcontext)
    monkeypatch.setattr(restore.restoring, "restore", lambda *_: ("the schema x", ["A key is back."]))
    monkeypatch.setattr("os.rename", Mock(side_effect=OSError("busy")))
    with ArchiveWriter(tmp_path / "x", Manifest(AT)) as archive:
        archive.add("secret-key", [b"x"])
    with Archive(tmp_path / "x") as opened, pytest.raises(CommandError) as raised:
        restore._restore(opened, lambda *_: None)  # type: ignore[arg-type]
    lines = str(raised.value).splitlines()
    assert "The database was restored, but not all files: busy" in lines[0]
    assert lines[1:] == ["The previous data is kept as the schema x.", "A key is back."]


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 99},
        {"members": {"../evil": {"bytes": 0, "sha256": ""}}},
        {"members": {"/evil": {"bytes": 0, "sha256": ""}}},
        {"members": {"missing": {"bytes": 0, "sha256": ""}}},
        {"members": {MEMBER: {"bytes": 8, "sha256": "0" * 64}}},
        {"members": {MEMBER: {"bytes": 7, "sha256": "0" * 64}}},
        {"members": None},
        {"members": {MEMBER: {"sha256": "0" * 64}}},
        {"members": {MEMBER: {"bytes": "8", "sha256": "0" * 64}}},
        {"members": {MEMBER: {"bytes": 8}}},
        {"members": {MEMBER: None}},
        {"unknown": 1},
        {"members": {}},
        {"tables": [{"name": "other", "columns": {"a": "integer"}}]},
        {"tables": [{"name": "t", "columns": {"a": "number"}}]},
        {"tables": [{"name": "t\x1b[2J", "columns": {}}]},
        {"format": 1, "engine": "postgresql", "rows": {"chat_user": 1}, "tables": []},
        {"members": {MEMBER: {"bytes": -8, "sha256": "0" * 64}}},
        {"created": "\x1b]0;title\x07\x1b[2J2026-01-01T00:00:00+00:00"},
        {"migrations": [["chat", "9999\x1b[2J"]]},
        {"engine": "\x1b[2J"},
    ],
)
def test_damaged_and_foreign_files_are_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(BackupError):
        read(written(tmp_path / "odd", **changes))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no zip file")
    for path in (tmp_path / "text", tmp_path / "nothing", tmp_path):
        with pytest.raises(BackupError):
            read(path)


def test_backup_of_a_damaged_database_leaves_no_file(template: Template, tmp_path: Path) -> None:
    if template.kind != "sqlite":
        pytest.skip("PostgreSQL looks after its own files")
    database = template.copy(tmp_path)
    file = tmp_path / "db.sqlite3"
    with file.open("r+b") as damaged:
        damaged.seek(file.stat().st_size // 2)
        damaged.write(b"garbage!" * 4_096)
    refused(manage(tmp_path, database, "backup", tmp_path / "x.zip"), "No backup was made")
    refused(manage(tmp_path, database, "check", "--integrity"), "is damaged")
    assert [path.name for path in tmp_path.iterdir() if "x.zip" in path.name] == []


def test_a_backup_of_a_newer_version_is_refused(template: Template, tmp_path: Path) -> None:
    newer = written(tmp_path / "newer", migrations=[["chat", "9999_from_the_future"]])
    database = template.copy(tmp_path)
    try:
        refused(manage(tmp_path, database, "restore", newer), "newer version")
        other = former_backup(tmp_path / "other", FormerManifest("oracle", AT))
        refused(manage(tmp_path, database, "restore", other), "from oracle")
    finally:
        database.drop()


@pytest.mark.parametrize(
    ("statement", "is_ours"),
    [
        (
            "CREATE TRIGGER x BEFORE DELETE ON t"
            " BEGIN SELECT RAISE(ABORT, 'a reading is never changed'); END",
            1,
        ),
        ("CREATE VIEW x AS SELECT * FROM t", 0),
        ("CREATE TRIGGER x AFTER DELETE ON t BEGIN INSERT INTO t VALUES (OLD.a); END", 0),
        (
            "CREATE TRIGGER x AFTER DELETE ON t BEGIN INSERT INTO t VALUES (OLD.a);"
            " SELECT 1 WHERE '' = ' BEGIN SELECT RAISE(ABORT, ''a reading is never changed''); END'; END",
            0,
        ),
    ],
    ids=range(4),
)
def test_a_restore_takes_no_trigger_of_others(tmp_path: Path, statement: str, is_ours: int) -> None:
    """It could put back the sessions that the restore removes."""
    with closing(sqlite3.connect(tmp_path / "made")) as made:
        made.execute("CREATE TABLE t (a integer)")
        made.execute(statement)
        made.commit()
    manifest = FormerManifest("sqlite", AT, {"t": 0})
    former_backup(tmp_path / "backup", manifest, (tmp_path / "made").read_bytes())
    refusal = nullcontext() if is_ours else pytest.raises(BackupError, match="no version made")
    with Archive(tmp_path / "backup") as opened, refusal:
        former.file_of(opened, manifest, tmp_path / "new").close()
