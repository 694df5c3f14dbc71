"""Assistants in an export, and in an import."""

import io
import json
import uuid
import zipfile
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from django.conf import settings as site
from django.contrib.auth.models import Permission

from chat.assistants import library, publication
from chat.assistants.content import Content, content_of
from chat.models import Assistant, Conversation, ImportJob, User
from chat.timezones import UTC
from chat.transfer import assistants as transferred
from chat.transfer import jobs
from chat.transfer.archive import archive_pieces
from chat.transfer.assistants import version_of
from tests.transfer.exported import as_json, as_markdown
from tests.transfer.importing import imported, never, uploaded

pytestmark = [pytest.mark.django_db, pytest.mark.database]
SCHEMA = json.loads((Path(transferred.__file__).parent / "assistant.schema.json").read_text("utf-8"))
VERSION = {
    "number": 1,
    "created": "2026-01-01T12:00:00+00:00",
    "name": "Cook",
    "description": "",
    "instructions": "",
    "picture": "",
    "model": "",
    "parameters": {},
    "questions": [],
}
PIRATE = Content("Pirate", "Talks like one", "Arr, {name}!", "🏴‍☠️", "m", {"seed": 1}, ["Where is the gold?"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "DATA_DIR", tmp_path)
    monkeypatch.setattr(jobs, "MAX_PAUSE_SECONDS", 0)


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice")


@pytest.fixture
def bob() -> User:
    return User.objects.create_user("bob")


@pytest.fixture
def staff() -> User:
    made = User.objects.create_user("carol", is_staff=True)
    made.user_permissions.add(Permission.objects.get(codename="publish_assistant"))
    return made


@pytest.fixture
def pirate(alice: User) -> Assistant:
    return library.create(alice, PIRATE)


def checked(user: User, value: Any) -> ImportJob:
    """Check a file, of which nothing can be imported."""
    job = uploaded(user, value)
    jobs.work(never)
    job.refresh_from_db()
    return job


def test_an_export_is_imported_with_its_assistants(alice: User, bob: User, pirate: Assistant) -> None:
    talk = Conversation.objects.create(user=alice, title="Boats", model="m", assistant_version=pirate.current)
    talk.messages.create(role="user", text="Where?")
    library.edit(alice, pirate.pk, Content("Parrot"))
    library.edit(alice, pirate.pk, Content("Crow"))
    archive = b"".join(archive_pieces(alice, UTC, str))
    file = zipfile.ZipFile(io.BytesIO(archive))
    exported = json.loads(file.read(f"assistants/{pirate.pk}.json"))
    jsonschema_rs.validator_for(SCHEMA, validate_formats=True).validate(exported)
    assert [(each["number"], each["name"]) for each in exported["versions"]] == [(1, "Pirate"), (3, "Crow")]
    named = as_json(talk)["assistant"]
    assert named == {"id": str(pirate.pk), "version": 1, "name": "Pirate"}
    assert "Pirate" in as_markdown(talk)
    assert checked(alice, archive).problem == "known"
    assert imported(bob, archive).state == "done"
    assert checked(bob, archive).problem == "known"
    theirs = Assistant.objects.get(owner=bob)
    assert [content_of(each) for each in theirs.versions.order_by("number")] == [PIRATE, Content("Crow")]
    assert (theirs.current.name, theirs.created) == ("Crow", pirate.created)
    assert Conversation.objects.get(user=bob).assistant_version.assistant == theirs
    library.delete(bob, theirs.pk)
    assert imported(bob, exported).state == "done"
    assert list(Assistant.objects.owned_by(bob)) == [theirs]


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": 2},
        {"id": "x"},
        {"created": "yesterday"},
        {"versions": []},
        {"versions": "x"},
        {"versions": [{"number": 1}]},
        {"versions": [VERSION | {"number": 0}]},
        {"versions": [VERSION, VERSION]},
        {"versions": [VERSION | {"name": " "}]},
        {"versions": [VERSION | {"name": "x\0"}]},
        {"versions": [VERSION | {"picture": "<b>"}]},
        {"versions": [VERSION | {"questions": ["a"] * 5}]},
        {"versions": [VERSION | {"instructions": "x" * 20_001}]},
    ],
)
def test_a_wrong_assistant_in_a_file_is_left_out(alice: User, wrong: dict) -> None:
    right = {"format": "chat.assistant", "version": 1, "id": str(uuid.uuid4()), "versions": [VERSION]}
    right["created"] = VERSION["created"]
    assert checked(alice, right | wrong).problem == "nothing"
    assert not Assistant.objects.exists()
    assert imported(alice, right).state == "done"
    assert Assistant.objects.get(owner=alice).current.name == "Cook"


def test_a_file_names_no_older_version_of_anothers(alice: User, bob: User, staff: User) -> None:
    mine = library.create(staff, PIRATE)
    library.edit(staff, mine.pk, Content("Parrot"))
    assert version_of(alice, (mine.pk, 2)) is None
    publication.publish(staff, mine.pk, everybody=True, groups=[])
    assert version_of(alice, (mine.pk, 1)) is None
    assert version_of(alice, (mine.pk, 2)) == Assistant.objects.get(pk=mine.pk).current
    assert version_of(staff, (mine.pk, 1)).name == "Pirate"
