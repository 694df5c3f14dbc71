"""Assistants in an export, and in an import."""

import io
import json
import uuid
import zipfile
from pathlib import Path

import jsonschema_rs
import pytest

from chat.files import files, uploads
from chat.files.decoding import EncodedPicture
from chat.files.extraction import extract
from chat.library import assistants
from chat.library.assistants import AssistantContent, content_of
from chat.models import Assistant, Attachment, Conversation, User
from chat.transfer import library as transferred
from chat.transfer.library import version_of
from tests.files import pictures
from tests.transfer.exported import archived, as_html, as_json, as_markdown
from tests.transfer.importing import checked, imported, with_attachments

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("attachments", "folder")]
SCHEMA = json.loads((Path(transferred.__file__).parent / "assistant.schema.json").read_text("utf-8"))
VERSION = {
    "number": 1,
    "created": "2026-01-01T12:00:00+00:00",
    "name": "Cook",
    **dict.fromkeys(("description", "instructions", "picture", "model"), ""),
    "parameters": {},
    "questions": [],
    "documents": [],
}
DOCUMENT = {"id": str(uuid.uuid4()), "file": f"attachments/{'0' * 64}.txt", "name": "a.txt"}
PIRATE = AssistantContent(
    "Pirate", "Talks like one", "Arr, {name}!", "🏴‍☠️", "m", {"seed": 1}, ["Where is the gold?"], True
)


@pytest.fixture
def pirate(alice: User) -> Assistant:
    return assistants.create(alice, PIRATE)


def test_an_export_is_imported_with_its_assistants(alice: User, bob: User, pirate: Assistant) -> None:
    talk = Conversation.objects.create(user=alice, title="Boats", model="m", assistant_version=pirate.current)
    talk.messages.create(role="user", text="Where?")
    assistants.edit(alice, pirate.pk, AssistantContent("Parrot"))
    assistants.edit(alice, pirate.pk, AssistantContent("Crow"))
    archive = archived(alice)
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
    assert [content_of(each) for each in theirs.versions.order_by("number")] == [
        PIRATE,
        AssistantContent("Crow"),
    ]
    assert (theirs.current.name, theirs.created) == ("Crow", pirate.created)
    assert Conversation.objects.get(user=bob).assistant_version.assistant == theirs
    assistants.delete(bob, theirs.pk)
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
        {"versions": [VERSION | {"picture": "x" * 17}]},
        {"versions": [VERSION | {"questions": ["a"] * 5}]},
        {"versions": [VERSION | {"instructions": "x" * 20_001}]},
        {"versions": [VERSION | {"image": "x"}]},
        {"versions": [VERSION | {"image": DOCUMENT | {"file": "x"}}]},
        {"versions": [VERSION | {"documents": "x"}]},
        {"versions": [VERSION | {"documents": [1]}]},
        {"versions": [VERSION | {"documents": [DOCUMENT | {"id": str(uuid.UUID(int=n))} for n in range(9)]}]},
        {"versions": [VERSION | {"documents": [DOCUMENT | {"id": "x"}]}]},
        {"versions": [VERSION | {"documents": [DOCUMENT | {"file": "../../etc/passwd"}]}]},
    ],
)
def test_a_wrong_assistant_in_a_file_is_left_out(alice: User, wrong: dict) -> None:
    right = {"format": "chat.assistant", "version": 1, "id": str(uuid.uuid4()), "versions": [VERSION]}
    right["created"] = VERSION["created"]
    assert checked(alice, right | wrong).problem == "nothing"
    assert not Assistant.objects.exists()
    odd = [VERSION | {"picture": "<b>", "parameters": {"seed": "x", "later": 1}}]
    assert imported(alice, right | {"versions": odd}).state == "done"
    found = Assistant.objects.get(owner=alice).current
    assert (found.name, found.picture, found.parameters) == ("Cook", "", {})


def test_a_file_names_no_older_version_of_anothers(alice: User, bob: User, staff: User) -> None:
    mine = assistants.create(staff, PIRATE)
    assistants.edit(staff, mine.pk, AssistantContent("Parrot"))
    assert version_of(alice, (str(mine.pk), 2)) is None
    assistants.publish(staff, mine.pk, everybody=True, groups=[])
    assert version_of(alice, (str(mine.pk), 1)) is None
    assert version_of(alice, (str(mine.pk), 2)) == Assistant.objects.get(pk=mine.pk).current
    assert version_of(staff, (str(mine.pk), 1)).name == "Pirate"


def read(owner: User, content: bytes, name: str, folder: Path) -> Attachment:
    """Store a document as an upload is stored."""
    path = folder / "upload"
    path.write_bytes(content)
    with path.open("rb") as file:
        return uploads.store_document(owner, name, file, extract(file, name))


def test_an_export_is_imported_with_the_documents(alice: User, bob: User, tmp_path: Path) -> None:
    rules = read(alice, b"Chess has kings.", "rules.txt", tmp_path)
    more = read(alice, b"Go has stones.", "go.txt", tmp_path)
    mine = assistants.create(alice, AssistantContent("Referee", documents=[rules.pk]))
    talk = Conversation.objects.create(user=alice, title="Games", model="m", assistant_version=mine.current)
    talk.messages.create(role="user", text="Who?")
    assistants.edit(alice, mine.pk, AssistantContent("Referee", documents=[more.pk, rules.pk]))
    archive = archived(alice)
    file = zipfile.ZipFile(io.BytesIO(archive))
    exported = json.loads(file.read(f"assistants/{mine.pk}.json"))
    jsonschema_rs.validator_for(SCHEMA, validate_formats=True).validate(exported)
    assert len([name for name in file.namelist() if name.startswith("attachments/")]) == 2
    done = imported(bob, archive)
    assert (done.state, done.preview["without"]) == ("done", {})
    first, second = Assistant.objects.get(owner=bob).versions.order_by("number")
    documents = [Attachment.objects.of_version(each.pk) for each in (first, second)]
    assert [[each.name for each in several] for several in documents] == [
        ["rules.txt"],
        ["go.txt", "rules.txt"],
    ]
    assert documents[0][0] == documents[1][1]
    assert {each.owner for each in documents[1]} == {bob}
    assert files.read(documents[1][0].sha256) == b"Go has stones."
    assert Attachment.objects.filter(owner=bob).count() == 2


def test_missing_files_and_what_has_no_room_are_counted(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assistants, "MAX_ASSISTANTS", 1)
    versions = [VERSION | {"documents": [DOCUMENT]}]
    about = {"format": "chat.assistant", "version": 1, "created": VERSION["created"]}
    done = imported(bob, about | {"id": str(uuid.uuid4()), "versions": versions})
    assert (done.state, done.preview["without"]) == ("done", {"attachment": {"count": 1, "names": ["a.txt"]}})
    assert Assistant.objects.get(owner=bob).current.document_links.count() == 0
    done = imported(bob, about | {"id": str(uuid.uuid4()), "versions": [VERSION]})
    assert (done.state, done.preview["lost"]) == ("done", {"other": {"count": 1, "names": ["Cook"]}})
    assert done.preview["assistants"] == 0


def test_a_picture_is_imported_as_no_document(alice: User, bob: User, tmp_path: Path) -> None:
    rules = read(alice, b"Chess has kings.", "rules.txt", tmp_path)
    assistants.create(alice, AssistantContent("Referee", documents=[rules.pk]))
    assert imported(bob, with_attachments(archived(alice), pictures.png())).state == "done"
    assert Assistant.objects.get(owner=bob).current.document_links.count() == 0
    assert not Attachment.objects.filter(owner=bob).exists()


def test_an_export_is_imported_with_the_image(alice: User, bob: User) -> None:
    face = uploads.store_picture(
        alice, "face.png", EncodedPicture(pictures.png(128, 128), "image/png", 128, 128)
    )
    mine = assistants.create(alice, AssistantContent("Cook", image=face.pk))
    archive = archived(alice)
    exported = json.loads(zipfile.ZipFile(io.BytesIO(archive)).read(f"assistants/{mine.pk}.json"))
    jsonschema_rs.validator_for(SCHEMA, validate_formats=True).validate(exported)
    assert imported(bob, archive).state == "done"
    theirs = Assistant.objects.get(owner=bob).current.image
    assert (theirs.owner, theirs.name, theirs.width, theirs.height) == (bob, "face.png", 128, 128)


def test_a_large_image_of_a_file_becomes_a_square(alice: User, bob: User) -> None:
    face = uploads.store_picture(
        alice, "face.png", EncodedPicture(pictures.png(128, 128), "image/png", 128, 128)
    )
    assistants.create(alice, AssistantContent("Cook", image=face.pk))
    assert imported(bob, with_attachments(archived(alice), pictures.png(900, 300))).state == "done"
    theirs = Assistant.objects.get(owner=bob).current.image
    assert (theirs.width, theirs.height) == (128, 128)


@pytest.mark.django_db(transaction=True)
def test_the_html_export_names_the_assistant(alice: User) -> None:
    mine = assistants.create(alice, AssistantContent("<b>Cook</b>", instructions="Secret."))
    talk = Conversation.objects.create(user=alice, title="Soup", model="m", assistant_version=mine.current)
    talk.active_leaf = talk.messages.create(role="user", text="What today?")
    talk.save()

    page = as_html(Conversation.objects.get(pk=talk.pk))
    assert "Assistant: <bdi>&lt;b&gt;Cook&lt;/b&gt;</bdi>" in page
    assert "Secret." not in page
