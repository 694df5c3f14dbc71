"""A database of the time before the first release goes on, and its backup restores.

`backups/` has what `manage.py backup` of 5b079f9 wrote of a small site. This release replaces its migrations.
"""

from pathlib import Path

import pytest

from tests.support.databases import Database, Template, clean_environment, on_postgres
from tests.support.manage import run_manage
from tests.support.people import PASSWORD

BACKUPS = Path(__file__).with_name("backups")
READ = f"""
from datetime import UTC
from django.contrib.auth.models import Group
from django.test import Client
from chat.models import ConversationAccess, Feedback, Message, SearchBuild, User
from chat.search import build, results
from chat.search.query import parse
alice = User.objects.get(username="alice")
assert alice.check_password({PASSWORD!r})
assert User.objects.filter(groups=Group.objects.get(name="Reviewers")).get().username == "erin"
assert [*Message.objects.order_by("role").values_list("text", flat=True)] == [
    "The **red** ones.", "Which boats are red?"]
assert Feedback.objects.get().up
assert not SearchBuild.objects.get().finished
build.build(lambda _: None, beside_servers=lambda: False)
assert results.search(alice.pk, parse("aero", UTC)).results
print("read")
"""


@pytest.fixture
def empty(template: Template, tmp_path: Path) -> Database:
    if template.kind == "sqlite":
        return Database(f"sqlite:///{tmp_path}/db.sqlite3")
    return on_postgres(f"first_release_{tmp_path.name[-20:].lower()}")


@pytest.mark.database
def test_a_backup_restores_and_its_database_goes_on(
    template: Template, empty: Database, tmp_path: Path
) -> None:
    env = clean_environment(DATA_DIR=str(tmp_path), DATABASE_URL=empty.url)
    try:
        for arguments in (
            ("restore", str(BACKUPS / f"{template.kind}.zip")),
            ("migrate",),
            ("migrate", "--check"),
            ("shell", "-v0", "--no-imports", "-c", READ),
        ):
            process = run_manage(*arguments, **env)
            assert process.returncode == 0, process.stderr
        assert process.stdout == "read\n"
    finally:
        empty.drop()


def test_an_older_database_is_told_to_pass_through_the_last_one(template: Template, tmp_path: Path) -> None:
    database = template.copy(tmp_path)
    env = clean_environment(DATA_DIR=str(tmp_path), DATABASE_URL=database.url)
    try:
        database.rows(
            "DELETE FROM django_migrations WHERE app = 'chat' AND name > '0040' OR name LIKE '000%_s%'"
        )
        process = run_manage("migrate", **env)
        assert process.returncode == 1
        assert "5b079f9" in process.stderr
    finally:
        database.drop()
