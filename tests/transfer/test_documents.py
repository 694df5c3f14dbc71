"""Documents in exports of each format, and in the import of our own archives."""

import io
import json
import zipfile
from concurrent.futures import Future
from pathlib import Path
from typing import IO, Any, NoReturn

import pytest
from django.utils import timezone

from chat.files import confinement, files, reading, uploads
from chat.files.extraction import Extracted, NeedsConversion, extract
from chat.files.problems import ConversionUnavailable
from chat.models import (
    Attachment,
    AttachmentFile,
    Citation,
    Conversation,
    DocumentPage,
    ImportJob,
    Message,
    User,
)
from chat.models.import_job import ABANDONED_AFTER
from chat.transfer import attachments as transfer_attachments
from chat.transfer import jobs, reader
from tests.files import documents, pictures
from tests.passages.stored import document
from tests.transfer.exported import archived, as_html, as_json, as_markdown
from tests.transfer.importing import imported, start, started, uploaded, with_attachments, work, zipped

pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("attachments", "folder"),
]
CONTENT = "# Grüße\n\n| a | b |\n".encode()


@pytest.fixture
def talk(ann: User, tmp_path: Path) -> Conversation:
    made = Conversation.objects.create(user=ann, title="Notes", model="m")
    question = Message.objects.create(conversation=made, role="user", text="")
    path = tmp_path / "upload"
    path.write_bytes(CONTENT)
    with path.open("rb") as file:
        stored = uploads.store_document(ann, "my [notes].md", file, extract(file, "notes.md"))
    stored.message = question
    stored.save()
    made.active_leaf = Message.objects.create(
        conversation=made, role="assistant", text="Notes.", parent=question
    )
    made.save()
    return made


def test_an_archive_holds_the_original_under_its_extension(ann: User, talk: Conversation) -> None:
    with zipfile.ZipFile(io.BytesIO(archived(ann))) as found:
        told = json.loads(found.read(f"conversations/{talk.pk}.json"))["messages"][0]["attachments"]
        [name] = [each for each in found.namelist() if each.startswith("attachments/")]
        assert found.read(name) == CONTENT
        [readable] = [each for each in found.namelist() if each.startswith("markdown/")]
        assert f"\n[my \\[notes\\].md](../{name})" in found.read(readable).decode()
    assert (told[0]["file"], told[0]["pages"], told[0]["media_type"]) == (name, 1, "text/markdown")
    assert name.endswith(".md")


def test_a_source_leads_to_the_imported_document(ann: User, talk: Conversation) -> None:
    """Without the file, as in a single JSON file, the source stays without a link."""
    [notes] = Attachment.objects.all()
    reply = talk.messages.get(role="assistant")
    cited = Citation(title="my [notes].md", page=1, text="Grüße", attachment_id=notes.pk)
    Citation.objects.add(reply.pk, [cited])
    bob, carol = (User.objects.create_user(name) for name in ("bob", "carol"))
    assert imported(bob, archived(ann)).state == ImportJob.State.DONE
    his = Citation.objects.get(message__conversation__user=bob)
    assert his.attachment == Attachment.objects.get(owner=bob)
    assert his.attachment_id != notes.pk
    assert imported(carol, as_json(talk)).state == ImportJob.State.DONE
    assert Citation.objects.get(message__conversation__user=carol).attachment is None


def test_a_source_leads_to_no_document_of_others(ann: User, talk: Conversation) -> None:
    [notes] = Attachment.objects.all()
    found = as_json(talk)
    cited = {"title": "x", "text": "y", "attachment": str(notes.pk)}
    found["messages"][1]["citations"] = [cited]
    found["messages"][0] |= {"attachments": [], "text": "Which?"}
    bob = User.objects.create_user("bob")
    assert imported(bob, found).state == ImportJob.State.DONE
    assert Citation.objects.get(message__conversation__user=bob).attachment is None


def test_single_files_name_the_document(talk: Conversation) -> None:
    assert "*Document: my \\[notes\\].md*" in as_markdown(talk)
    page = as_html(talk)
    assert "Document: <bdi>my [notes].md</bdi>" in page
    assert "<img" not in page


def test_an_export_is_imported_with_its_documents_and_their_text(ann: User, talk: Conversation) -> None:
    ben = User.objects.create_user("ben")
    job = imported(ben, archived(ann))
    assert (job.state, job.stored, job.preview["without"]) == (ImportJob.State.DONE, 1, {})
    taken = Attachment.objects.get(owner=ben)
    assert (taken.name, taken.media_type, taken.pages) == ("my [notes].md", "text/markdown", 1)
    assert files.read(taken.sha256) == CONTENT
    assert "Grüße" in DocumentPage.objects.get(file=taken.sha256).text
    assert as_markdown(Conversation.objects.get(user=ben)) == as_markdown(talk)


def test_the_server_reads_no_archive_itself(
    ann: User, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only confined children do: a directory of 8 MB took seconds, and may be made to harm."""
    sent, ben = archived(ann), User.objects.create_user("ben")
    monkeypatch.setattr(reader, "stream_confined", confinement.stream_confined)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    imported(ben, sent)
    found = Attachment.objects.get(owner=ben)
    assert files.read(found.sha256) == CONTENT


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_file_in_an_archive_is_left_out(ann: User, talk: Conversation, method: int) -> None:
    with zipfile.ZipFile(io.BytesIO(archived(ann))) as exported:
        sent = bytearray(zipped({each: exported.read(each) for each in exported.namelist()}, method))
    with zipfile.ZipFile(io.BytesIO(sent)) as made:
        (entry,) = (each for each in made.infolist() if each.filename.startswith("attachments/"))
    sent[entry.header_offset + 30 + len(entry.filename) + 5] ^= 0xFF
    ben = User.objects.create_user("ben")
    job = imported(ben, bytes(sent))
    assert job.stored == 1
    assert not Attachment.objects.filter(owner=ben).exists()
    assert job.preview["lost"]["attachment"]["count"] == 1


def test_a_document_that_cannot_be_read_is_left_out(ann: User, talk: Conversation) -> None:
    ben = User.objects.create_user("ben")
    sent = with_attachments(archived(ann), b"\0\1\2")
    assert imported(ben, sent).state == ImportJob.State.DONE
    assert not Attachment.objects.filter(owner=ben).exists()
    assert Message.objects.get(conversation__user=ben, role="user").text == "…"


ODT = "application/vnd.oasis.opendocument.text"


@pytest.fixture
def odt(ann: User, talk: Conversation, tmp_path: Path) -> bytes:
    """An archive with a document that only Cloudflare reads; this site has forgotten it."""
    content = documents.package({"mimetype": ODT, "content.xml": "<text>Grüße</text>"})
    path = tmp_path / "odt"
    path.write_bytes(content)
    with path.open("rb") as file:
        stored = uploads.store_document(ann, "notes.odt", file, Extracted(ODT, ("Grüße",)))
    stored.message = talk.messages.get(role="user")
    stored.save()
    exported = archived(ann)
    Conversation.objects.all().delete()
    AttachmentFile.objects.all().delete()
    return exported


def converted(text: str, media_type: str = ODT) -> "Future[Extracted]":
    found: Future[Extracted] = Future()
    found.set_result(Extracted(media_type, (text,)))
    return found


def test_an_imported_document_is_converted_as_an_upload_is(odt: bytes) -> None:
    ben = User.objects.create_user("ben")
    job = imported(ben, odt, lambda person, file, needed: converted("Grüße!"))
    assert job.state == ImportJob.State.DONE
    taken = Attachment.objects.get(owner=ben, name="notes.odt")
    assert (taken.media_type, DocumentPage.objects.get(file=taken.sha256).text) == (ODT, "Grüße!")


def test_an_import_waits_while_documents_cannot_be_converted(odt: bytes) -> None:
    def convert(*_arguments: Any) -> NoReturn:
        raise ConversionUnavailable("Cloudflare is busy.", retry_after=30)

    with pytest.raises(ConversionUnavailable):
        imported(User.objects.create_user("ben"), odt, convert)
    assert ImportJob.objects.get().state == ImportJob.State.IMPORTING


def test_an_import_leaves_out_what_no_account_can_convert(odt: bytes) -> None:
    ben = User.objects.create_user("ben")
    assert imported(ben, odt).state == ImportJob.State.DONE
    assert [each.name for each in Attachment.objects.filter(owner=ben)] == ["my [notes].md"]


def test_a_document_that_the_person_has_needs_no_conversion(odt: bytes, tmp_path: Path) -> None:
    ben = User.objects.create_user("ben")
    with (tmp_path / "odt").open("rb") as file:
        uploads.store_document(ben, "notes.odt", file, Extracted(ODT, ("Grüße",)))
    assert imported(ben, odt).state == ImportJob.State.DONE
    assert Attachment.objects.filter(owner=ben, name="notes.odt", pages=1).count() == 2


ODS = "application/vnd.oasis.opendocument.spreadsheet"


def spreadsheet(text: str) -> bytes:
    return documents.package({"mimetype": ODS, "content.xml": f"<x>{text}</x>"})


@pytest.mark.parametrize("is_converted", [True, False], ids=["converted", "not converted"])
@pytest.mark.parametrize(
    ("extension", "media_type", "theirs", "nobodys"),
    [
        ("ods", ODS, spreadsheet("version 7"), spreadsheet("version 8")),
        ("pdf", "application/pdf", documents.pdf("version 7"), documents.pdf("version 8")),
        ("md", "text/markdown", b"version 7", b"version 8"),
        ("pdf", "application/pdf", b"%PDF-7", b"%PDF-8"),
        ("png", "image/png", pictures.png(9, 7), pictures.png(9, 8)),
        ("png", "image/png", pictures.png(9, 7)[:40], pictures.png(9, 8)[:40]),
    ],
    ids=["ods", "pdf", "text", "broken pdf", "picture", "broken picture"],
)
def test_an_import_does_not_tell_what_others_have(
    ann: User,
    talk: Conversation,
    extension: str,
    media_type: str,
    theirs: bytes,
    nobodys: bytes,
    is_converted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither by its result nor by what is read or converted for it."""
    calls: list[str] = []

    def convert(person: int, file: Any, needed: NeedsConversion) -> "Future[Extracted]":
        calls.append("converted")
        if not is_converted:
            raise needed
        return converted("Grüße", needed.media_type)

    def read(file: Any, name: str) -> Any:
        calls.append("read")
        return read_really(file, name)

    read_really = reading.read
    monkeypatch.setattr(reading, "read", read)
    uploads.keep_file(uploads.sha256_of(theirs), theirs)
    sizes = {"width": 9, "height": 7} if extension == "png" else {"width": 0, "height": 0, "pages": 1}
    Attachment.objects.create(
        owner=ann,
        file_id=uploads.sha256_of(theirs),
        media_type=media_type,
        name=f"x.{extension}",
        size=len(theirs),
        **sizes,
    )
    found = []
    for name, content in (("ben", theirs), ("cat", nobodys)):
        calls.clear()
        person = User.objects.create_user(name)
        job = imported(person, with_file(talk, content, extension), convert)
        own = Attachment.objects.filter(owner=person)
        columns = list(own.values_list("media_type", "pages", "width"))
        found.append((job.state, job.stored, job.preview["without"], columns, list(calls)))
    assert found[0] == found[1]
    assert "read" in found[0][-1]


def with_file(talk: Conversation, content: bytes, extension: str) -> bytes:
    """An archive of the conversation in which its document has these bytes."""
    told = as_json(talk)
    name = f"attachments/{uploads.sha256_of(content)}.{extension}"
    told["messages"][0]["attachments"][0] |= {"file": name, "name": f"x.{extension}"}
    return zipped({f"conversations/{talk.pk}.json": told, name: content})


def test_all_files_of_a_conversation_count_against_the_quota(
    ann: User, talk: Conversation, settings: Any
) -> None:
    """Their rows are stored after the last of them has been read."""
    question = Message.objects.get(conversation=talk, role="user")
    for number in range(4):
        pages = [f"{number} word " * 40_000]
        document(ann, pages, f"{number}.txt", question, "text/plain")
    sent = archived(ann)
    settings.ATTACHMENT_QUOTA_MB = 1
    ben = User.objects.create_user("ben")
    imported(ben, sent)
    sizes = list(Attachment.objects.filter(owner=ben).values_list("size", flat=True))
    assert 0 < sum(sizes) <= 1_000_000


@pytest.fixture
def three(ann: User, talk: Conversation) -> bytes:
    """An archive of a conversation with three documents."""
    question = Message.objects.get(conversation=talk, role="user")
    for number in range(2):
        document(ann, [f"Page {number}"], f"{number}.txt", question, "text/plain")
    return archived(ann)


def test_an_import_gives_way_after_each_document(three: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three people's slow documents would hold up everybody. Each document is read once nevertheless."""
    ben, cat = User.objects.create_user("ben"), User.objects.create_user("cat")
    read: list[str] = []

    def counted(file: IO[bytes], name: str) -> Any:
        read.append(name)
        return extract(file, name)

    monkeypatch.setattr(reading, "read", counted)
    monkeypatch.setattr(jobs, "TURN_SECONDS", 0)
    started(ben, three)
    other = uploaded(cat, three)
    work()
    work()
    assert (len(read), ImportJob.objects.get(pk=other.pk).state) == (1, ImportJob.State.READY)
    start(other)
    turns = []
    while work():
        turns.append((len(read), Attachment.objects.count() - 3))
    assert (turns[:4], turns[-1]) == ([(2, 0), (3, 0), (4, 0), (5, 0)], (6, 6))
    assert {each.state for each in ImportJob.objects.all()} == {ImportJob.State.DONE}


def test_a_file_that_is_gone_at_the_next_turn_is_read_again(
    three: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "TURN_SECONDS", 0)
    ben = User.objects.create_user("ben")
    started(ben, three)
    waits = uploaded(User.objects.create_user("cat"), three)
    ImportJob.objects.filter(pk=waits.pk).update(beat=timezone.now() - ABANDONED_AFTER)
    work()
    Conversation.objects.all().delete()
    AttachmentFile.objects.all().delete()
    while work():
        pass
    texts = DocumentPage.objects.filter(file__attachments__owner=ben).values_list("text", flat=True)
    assert len(texts) == 3


def test_what_an_import_has_no_time_for_is_named(three: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_attachments, "READING_SECONDS", 1e-9)
    job = imported(User.objects.create_user("ben"), three)
    assert (job.state, job.stored) == (ImportJob.State.DONE, 1)
    assert {kind: found["count"] for kind, found in job.preview["lost"].items()} == {"unread": 2}
