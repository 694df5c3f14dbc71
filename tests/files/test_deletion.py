"""Files go with their last attachment, and stay as long as one needs them."""

import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from chat.files import deletion, files, uploads
from chat.files.decoding import EncodedPicture
from chat.files.problems import QuotaExceeded, TooManyUnsent
from chat.models import Attachment, AttachmentFile, Conversation, Message, User
from chat.retention.kinds import count, prune, sweep

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def talk(alice: User) -> Conversation:
    return Conversation.objects.create(user=alice, title="Cats", model="m")


def never() -> bool:
    return False


def picture(content: bytes = b"a picture") -> EncodedPicture:
    return EncodedPicture(content, "image/jpeg", 4, 3)


def question(talk: Conversation, *pictures: Attachment) -> Message:
    message = Message.objects.create(conversation=talk, role="user", text="")
    for each in pictures:
        each.message = message
        each.save()
    return message


def age(hours: float = 2) -> None:
    AttachmentFile.objects.update(uploaded=timezone.now() - timedelta(hours=hours))


def test_a_file_goes_with_its_last_attachment(alice: User, talk: Conversation, attachments: Path) -> None:
    first, second = (uploads.store_picture(alice, "a.jpg", picture()) for _ in range(2))
    message = question(talk, first)
    question(talk, second)
    age()
    path = attachments / files.name_of(first.sha256)
    message.delete()
    assert sweep(never)["files of deleted attachments"] == 0
    assert path.exists()
    talk.delete()
    assert sweep(never)["files of deleted attachments"] == 1
    assert not path.exists()
    assert not AttachmentFile.objects.exists()


def test_a_purged_conversation_takes_its_pictures_along(
    alice: User, talk: Conversation, attachments: Path
) -> None:
    question(talk, uploads.store_picture(alice, "a.jpg", picture()))
    age()
    talk.deleted = timezone.now() - timedelta(days=31)
    talk.save()
    assert sweep(never) == {"temporary chats": 0, "deleted chats": 1, "files of deleted attachments": 1}
    assert not Attachment.objects.exists()
    assert [path for path in attachments.rglob("*") if path.is_file()] == []


def test_a_deleted_account_takes_its_pictures_along(
    alice: User, talk: Conversation, attachments: Path
) -> None:
    question(talk, uploads.store_picture(alice, "a.jpg", picture()))
    age()
    alice.delete()
    assert sweep(never)["files of deleted attachments"] == 1


def test_a_fresh_file_stays_for_an_hour(alice: User, attachments: Path) -> None:
    uploads.keep_file("ab" * 32, b"x")
    assert sweep(never)["files of deleted attachments"] == 0
    age(1.1)
    uploads.keep_file("ab" * 32, b"x")  # the same content again
    assert sweep(never)["files of deleted attachments"] == 0
    age(1.1)
    assert sweep(never)["files of deleted attachments"] == 1


def test_unsent_files_are_deleted_after_a_day(alice: User, talk: Conversation, attachments: Path) -> None:
    for content in (b"old", b"new", b"sent"):
        uploads.store_picture(alice, f"{content.decode()}.jpg", picture(content))
    question(talk, Attachment.objects.get(name="sent.jpg"))
    old = Attachment.objects.filter(name__in=["old.jpg", "sent.jpg"])
    old.update(created=timezone.now() - timedelta(hours=25))
    age(25)
    assert count()["files that were never sent"] == 1
    found = prune(never)
    assert (found["files that were never sent"], found["files of deleted attachments"]) == (1, 1)
    assert set(Attachment.objects.values_list("name", flat=True)) == {"new.jpg", "sent.jpg"}


def test_files_without_a_row_go_after_a_day(alice: User, attachments: Path) -> None:
    kept = uploads.store_picture(alice, "a.jpg", picture())
    for name, hours in (("aa" * 32, 25.0), ("bb" * 32, 1.0)):
        files.write(name, b"stray")
        path = attachments / files.name_of(name)
        path.touch()
        then = path.stat().st_mtime - hours * 3_600
        os.utime(path, (then, then))
    assert count()["uploaded files without a row"] == 1
    assert prune(never)["uploaded files without a row"] == 1
    assert not files.exists("aa" * 32)
    assert files.exists("bb" * 32)
    assert files.exists(kept.sha256)


def test_a_file_that_is_needed_again_meanwhile_is_not_deleted(
    alice: User, attachments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploads.keep_file("ab" * 32, b"x")
    age()
    rows = deletion.unused()
    assert rows.count() == 1
    Attachment.objects.create(
        owner=alice, file_id="ab" * 32, media_type="image/png", name="x", width=1, height=1, size=1
    )
    assert not deletion._delete("ab" * 32)
    assert files.exists("ab" * 32)


def test_no_attachment_can_name_a_file_that_is_gone(alice: User, attachments: Path) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Attachment.objects.create(
            owner=alice, file_id="cd" * 32, media_type="image/png", name="x", width=1, height=1, size=1
        )


def together(*works: Callable[[], Any]) -> list[BaseException]:
    errors: list[BaseException] = []

    def run(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_uploads_and_deletions_of_one_content_lose_no_file(alice: User, attachments: Path) -> None:
    for _round in range(10):
        Attachment.objects.all().delete()
        uploads.keep_file(uploads.sha256_of(b"a picture"), b"a picture")
        age()
        errors = together(
            lambda: uploads.store_picture(alice, "a.jpg", picture()),
            lambda: deletion.delete_unused(deletion.unused(), never),
        )
        assert errors == []
        assert files.read(Attachment.objects.get().sha256) == b"a picture"


def test_the_limits_of_a_person(alice: User, attachments: Path, settings: Any) -> None:
    settings.ATTACHMENT_QUOTA_MB = 1
    uploads.store_picture(alice, "a.jpg", picture(b"x" * 900_000))
    with pytest.raises(QuotaExceeded, match="from the trash too"):  # which counts as well
        uploads.store_picture(alice, "b.jpg", picture(b"y" * 200_000))
    uploads.store_picture(User.objects.create_user("bob"), "b.jpg", picture(b"y" * 200_000))
    for _ in range(uploads.MAX_UNSENT - 1):
        uploads.store_picture(alice, "c.jpg", picture())
    with pytest.raises(TooManyUnsent):
        uploads.store_picture(alice, "d.jpg", picture())
    assert Attachment.objects.filter(owner=alice).count() == uploads.MAX_UNSENT


def test_uploads_at_the_same_time_together_exceed_no_limit(
    alice: User, attachments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clean(name: str, media_type: str) -> str:
        time.sleep(0.05)  # all have looked by now that are not kept waiting
        return name

    monkeypatch.setattr(uploads, "MAX_UNSENT", 3)
    monkeypatch.setattr(uploads, "clean", clean)
    works = [lambda: uploads.store_picture(alice, "a.jpg", picture()) for _ in range(8)]
    errors = together(*works)
    assert {type(error) for error in errors} == {TooManyUnsent}
    assert Attachment.objects.count() == 3


def test_an_upload_keeps_the_file_that_a_pruning_found_stray(
    alice: User, attachments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write(uploads.sha256_of(b"a picture"), b"a picture")
    monkeypatch.setattr(deletion, "_is_older", lambda name, before: True)
    found = deletion.stray(never)
    assert len(found) == 1
    uploads.store_picture(alice, "a.jpg", picture())
    monkeypatch.setattr(deletion, "stray", lambda stop: found)
    assert deletion.delete_stray(never) == 0
    assert files.read(Attachment.objects.get().sha256) == b"a picture"


def test_an_upload_while_a_stray_file_is_deleted_has_its_file(
    alice: User, attachments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All but the beginning of the file that is being written, which is young.
    monkeypatch.setattr(deletion, "_is_older", lambda name, before: files.PARTIAL not in name)
    for _round in range(10):
        Attachment.objects.all().delete()
        AttachmentFile.objects.all().delete()
        files.write(uploads.sha256_of(b"a picture"), b"a picture")
        errors = together(
            lambda: uploads.store_picture(alice, "a.jpg", picture()), lambda: deletion.delete_stray(never)
        )
        assert errors == []
        assert files.read(Attachment.objects.get().sha256) == b"a picture"


@pytest.mark.parametrize("content", [b"", b"a pict", b"a PICTURE"], ids=["empty", "cut", "changed"])
def test_a_damaged_file_is_missing_until_it_is_uploaded_again(
    alice: User, attachments: Path, content: bytes
) -> None:
    stored = uploads.store_picture(alice, "a.jpg", picture())
    (attachments / files.name_of(stored.sha256)).write_bytes(content)
    with pytest.raises(FileNotFoundError):
        files.read(stored.sha256)
    uploads.store_picture(alice, "a.jpg", picture())
    assert files.read(stored.sha256) == b"a picture"
