"""Pictures in exports of each format, and in the import of our own archives."""

import base64
import errno
import io
import json
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any, NoReturn

import pytest

from chat.files import files, uploads
from chat.files.decoding import EncodedPicture, decode
from chat.files.problems import StorageUnavailable
from chat.models import Attachment, Conversation, ImportJob, Message, User
from chat.transfer import archive
from tests.files import pictures
from tests.transfer.exported import archived, as_html, as_json, as_markdown
from tests.transfer.importing import changed, checked, imported, started, uploaded, work

pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("attachments", "folder"),
]


def decoded(content: bytes) -> EncodedPicture:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        return decode(file)


@pytest.fixture
def talk(ann: User) -> Conversation:
    """A question that is a picture alone, and a reply; then two pictures with words."""
    made = Conversation.objects.create(user=ann, title="Cats", model="m")
    parent = None
    for text, contents in (
        ("", [pictures.jpeg(40, 30)]),
        ("And these?", [pictures.png(9, 8), pictures.jpeg(40, 30)]),
    ):
        question = Message.objects.create(conversation=made, role="user", text=text, parent=parent)
        for position, content in enumerate(contents):
            picture = uploads.store_picture(ann, f"cat [{position}].jpg", decoded(content))
            picture.message, picture.position, picture.alt = question, position, "a cat" if position else ""
            picture.save()
        parent = Message.objects.create(conversation=made, role="assistant", text="A cat.", parent=question)
    made.active_leaf = parent
    made.save()
    return made


def unavailable(*_arguments: Any) -> NoReturn:
    raise StorageUnavailable("The bucket does not answer.", retry_after=10)


def full(**_options: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


def opened(data: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(data))


def test_an_archive_has_each_file_once_with_its_message(ann: User, talk: Conversation) -> None:
    with opened(archived(ann)) as found:
        names = [name for name in found.namelist() if name.startswith("attachments/")]
        assert len(names) == 2
        told = json.loads(found.read(f"conversations/{talk.pk}.json"))
        first, second = (each["attachments"] for each in told["messages"] if each["role"] == "user")
        assert (len(first), len(second)) == (1, 2)
        assert {each["file"] for each in first + second} == set(names)
        assert found.read(first[0]["file"]) == files.read(Attachment.objects.get(pk=first[0]["id"]).sha256)
        assert all("attachments" not in each for each in told["messages"] if each["role"] == "assistant")
        [readable] = [name for name in found.namelist() if name.startswith("markdown/")]
        assert f"![cat \\[0\\].jpg](../{first[0]['file']})" in found.read(readable).decode()


def test_a_single_markdown_file_names_its_pictures(talk: Conversation) -> None:
    assert "*Picture: cat \\[0\\].jpg*" in as_markdown(talk)
    assert "*Picture: a cat*" in as_markdown(talk)


def test_an_html_file_holds_its_pictures(talk: Conversation) -> None:
    page = as_html(talk)
    found = re.findall(r'<img src="data:(image/\w+);base64,([^"]+)" alt="([^"]*)"', page)
    assert [(kind, alt) for kind, _data, alt in found] == [
        ("image/jpeg", "cat [0].jpg"),
        ("image/png", "cat [0].png"),
        ("image/jpeg", "a cat"),
    ]
    assert pictures.opened(base64.b64decode(found[0][1])).size == (40, 30)
    assert "img-src data:" in page


def test_an_html_file_says_which_picture_could_not_be_read(talk: Conversation) -> None:
    lost = Attachment.objects.get(name="cat [0].png")
    files.delete(files.name_of(lost.sha256))

    page = as_html(talk)
    assert page.count("<img") == 2
    note = "The picture <bdi>cat [0].png</bdi> could not be read, so it is not in this file."
    assert page.index('alt="cat [0].jpg"') < page.index(note) < page.index('alt="a cat"')


def test_an_export_is_imported_with_its_pictures(ann: User, talk: Conversation) -> None:
    ben = User.objects.create_user("ben")
    job = imported(ben, archived(ann))
    assert (job.state, job.stored, job.preview["without"]) == (ImportJob.State.DONE, 1, {})
    assert job.preview["lost"] == {}
    taken = Conversation.objects.get(user=ben)
    assert as_markdown(taken) == as_markdown(talk)
    old, new = ([each.get("attachments") for each in as_json(which)["messages"]] for which in (talk, taken))
    assert [each and [(one["name"], one["alt"]) for one in each] for each in new] == [
        each and [(one["name"], one["alt"]) for one in each] for each in old
    ]
    for each in Attachment.objects.filter(owner=ben):
        assert pictures.opened(files.read(each.sha256)).size == (each.width, each.height)
    imported(ben, archived(ann))
    assert Attachment.objects.filter(owner=ben).count() == 3


def test_pictures_that_the_person_has_are_not_encoded_again(ann: User, talk: Conversation) -> None:
    ben = User.objects.create_user("ben")
    hers = list(Attachment.objects.filter(owner=ann))
    Attachment.objects.bulk_create(each.copy(owner_id=ben.pk, message_id=None, position=0) for each in hers)
    imported(ben, archived(ann))
    his = Attachment.objects.filter(owner=ben).exclude(message=None)
    assert sorted(each.sha256 for each in his) == sorted(each.sha256 for each in hers)


def test_a_missing_file_is_listed_in_the_archive(ann: User, talk: Conversation, attachments: Path) -> None:
    lost = Attachment.objects.get(name="cat [0].png")
    (attachments / files.name_of(lost.sha256)).unlink()
    with opened(archived(ann)) as found:
        assert len([name for name in found.namelist() if name.startswith("attachments/")]) == 1
        assert f"{lost.sha256}.png: cat [0].png" in found.read("missing-files.txt").decode()


def test_an_export_breaks_off_while_the_storage_is_away(
    ann: User, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_OUTAGES", 2)
    monkeypatch.setattr(files, "read", unavailable)
    with pytest.raises(StorageUnavailable):
        archived(ann)


def test_an_import_waits_for_the_storage(
    ann: User, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben = User.objects.create_user("ben")
    job = started(ben, archived(ann))
    with monkeypatch.context() as patched:
        patched.setattr(files, "write", unavailable)
        with pytest.raises(StorageUnavailable):
            work()
    job.refresh_from_db()
    assert (job.state, job.beat, job.stored) == (ImportJob.State.IMPORTING, None, 0)
    work()
    job.refresh_from_db()
    assert (job.state, job.stored) == (ImportJob.State.DONE, 1)
    assert Attachment.objects.filter(owner=ben).count() == 3


def test_an_import_waits_while_the_disk_is_full(
    ann: User, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(User.objects.create_user("ben"), archived(ann))
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(StorageUnavailable):
        work()


def test_json_alone_leaves_the_pictures_out(ann: User, talk: Conversation) -> None:
    ben = User.objects.create_user("ben")
    job = imported(ben, as_json(talk))
    names = ["cat [0].jpg", "cat [0].png", "cat [1].jpg"]
    assert (job.stored, job.preview["without"]) == (1, {"attachment": {"count": 3, "names": names}})
    assert job.preview["lost"] == job.preview["without"]
    assert not Attachment.objects.filter(owner=ben).exists()
    questions = Message.objects.filter(conversation__user=ben, role="user")
    assert set(questions.values_list("text", flat=True)) == {"…", "And these?"}


def test_files_of_an_archive_are_not_trusted(ann: User, talk: Conversation) -> None:
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    hidden = pictures.jpeg(21, 20) + b"<script>"

    def change(name: str, content: bytes) -> bytes:
        if not name.startswith("attachments/"):
            return content
        return svg if name.endswith(".png") else hidden

    ben = User.objects.create_user("ben")
    job = imported(ben, changed(archived(ann), change))
    assert job.state == ImportJob.State.DONE
    taken = Attachment.objects.filter(owner=ben, pages=0)
    assert {(each.width, each.height) for each in taken} == {(21, 20)}
    assert all(b"<script>" not in files.read(each.sha256) for each in taken)
    assert taken.count() == 2
    assert Attachment.objects.get(owner=ben, pages=1).media_type == "text/plain"  # the SVG, as a document


def test_a_file_that_is_missing_in_the_archive_is_told_before(ann: User, talk: Conversation) -> None:
    job = uploaded(
        User.objects.create_user("ben"),
        changed(archived(ann), lambda name, content: None if name.endswith(".png") else content),
    )
    work()
    job.refresh_from_db()
    assert (job.state, job.preview["without"]["attachment"]["names"]) == (
        ImportJob.State.READY,
        ["cat [0].png"],
    )


def test_an_import_keeps_to_the_quota(ann: User, talk: Conversation, settings: Any) -> None:
    ben = User.objects.create_user("ben")
    uploads.store_picture(ben, "a.jpg", decoded(pictures.noise(700, 600)))
    settings.ATTACHMENT_QUOTA_MB = 0
    job = imported(ben, archived(ann))
    assert (job.state, job.stored) == (ImportJob.State.DONE, 1)
    assert not Attachment.objects.filter(owner=ben, message__isnull=False).exists()
    lost = {"attachment": {"count": 3, "names": ["cat [0].jpg", "cat [0].png", "cat [1].jpg"]}}
    assert (job.preview["without"], job.preview["lost"]) == ({}, lost)


@pytest.mark.parametrize(
    "attachment",
    [
        {"file": "../../secret-key"},
        {"file": "attachments/x.jpg"},
        {"file": f"attachments/{'0' * 64}.S/G"},
        {"name": "x" * 101},
        {"alt": 7},
    ],
)
def test_a_picture_of_a_foreign_kind_refuses_the_conversation(
    talk: Conversation, attachment: dict[str, Any]
) -> None:
    told = as_json(talk)
    told["messages"][0]["attachments"][0] |= attachment
    job = checked(User.objects.create_user("ben"), told)
    assert (job.state, job.problem) == (ImportJob.State.REFUSED, "nothing")
