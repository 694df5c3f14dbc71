"""Pictures in a bucket."""

import importlib.util
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from chat.files import deletion, files, uploads
from chat.files.decoding import EncodedPicture
from chat.files.problems import StorageUnavailable
from chat.models import Attachment, AttachmentFile, FileDeletion, User
from tests.conftest import missing
from tests.support.fake_s3 import FakeS3, serving
from tests.support.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def bucket(settings: Any) -> Iterator[FakeS3]:
    if importlib.util.find_spec("storages") is None:
        missing("django-storages", "run `make install-s3`")
    with serving() as found:
        options = {
            "bucket_name": "pictures",
            "endpoint_url": found.url,
            "region_name": "auto",
            "access_key": "a",
            "secret_key": "s",
        }
        backend = {"BACKEND": "chatsite.s3_storage.S3AttachmentStorage", "OPTIONS": options}
        settings.STORAGES = {**settings.STORAGES, "attachments": backend}
        yield found


def never() -> bool:
    return False


def test_a_picture_is_written_read_and_deleted(bucket: FakeS3) -> None:
    alice = User.objects.create_user("alice")
    stored = uploads.store_picture(alice, "a.jpg", EncodedPicture(b"a picture", "image/jpeg", 4, 3))
    assert bucket.objects == {f"attachments/{files.name_of(stored.sha256)}": b"a picture"}
    assert files.read(stored.sha256) == b"a picture"
    Attachment.objects.all().delete()
    AttachmentFile.objects.update(uploaded=timezone.now() - timedelta(hours=2))
    assert deletion.delete_unused(deletion.unused(), never) == 1
    assert bucket.objects == {}
    with pytest.raises(FileNotFoundError):
        files.read(stored.sha256)


def test_files_without_a_row_are_found(bucket: FakeS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "DIGEST_FOLDERS", ["aa", "ab", "ff"])  # of 256: each is a request
    files.write("ab" * 32, b"stray")
    assert deletion.stray(never) == []
    monkeypatch.setattr(deletion, "STRAY_FOR", timedelta(0))
    monkeypatch.setattr(deletion, "_is_older", lambda name, before: True)
    assert deletion.stray(never) == [files.name_of("ab" * 32)]
    assert deletion.delete_stray(never) == 1
    assert bucket.objects == {}


def test_a_bucket_that_is_down_raises_and_keeps_the_row(bucket: FakeS3) -> None:
    alice = User.objects.create_user("alice")
    bucket.down = True
    with pytest.raises(StorageUnavailable):
        uploads.store_picture(alice, "a.jpg", EncodedPicture(b"a picture", "image/jpeg", 4, 3))
    assert not Attachment.objects.exists()
    bucket.down = False
    assert uploads.store_picture(alice, "a.jpg", EncodedPicture(b"a picture", "image/jpeg", 4, 3))


def unused_file() -> str:
    """Store a file that no attachment needs. Return its hash."""
    key = uploads.sha256_of(b"a picture")
    uploads.keep_file(key, b"a picture")
    AttachmentFile.objects.update(uploaded=timezone.now() - timedelta(hours=2))
    return key


@contextmanager
def deleting(bucket: FakeS3) -> Iterator[Future[int]]:
    """Begin the deletion of the unused files in a thread, with a bucket that does not answer."""

    def delete() -> int:
        try:
            return deletion.delete_unused(deletion.unused(), never)
        finally:
            connections.close_all()

    bucket.keeps_waiting = True
    with ThreadPoolExecutor(1) as pool:
        deleted = pool.submit(delete)
        try:
            until(lambda: bucket.deletions > 0)
            yield deleted
        finally:
            bucket.keeps_waiting = False


def test_others_write_while_a_bucket_deletes_slowly(bucket: FakeS3) -> None:
    key = unused_file()
    with deleting(bucket) as deleted:
        began = time.monotonic()
        alice = User.objects.create_user("alice")
        uploads.store_picture(alice, "b.jpg", EncodedPicture(b"another", "image/jpeg", 4, 3))
        assert time.monotonic() - began < 2
        assert bucket.deletions == 1
        with pytest.raises(IntegrityError), transaction.atomic():  # such as a late copy
            Attachment.objects.create(
                owner=alice, file_id=key, media_type="image/png", name="x", width=1, height=1, size=1
            )
    assert deleted.result() == 1
    assert not files.exists(key)


def test_an_upload_waits_for_the_deletion_of_the_same_content(bucket: FakeS3) -> None:
    key, alice = unused_file(), User.objects.create_user("alice")

    def upload() -> None:
        try:
            uploads.store_picture(alice, "a.jpg", EncodedPicture(b"a picture", "image/jpeg", 4, 3))
        finally:
            connections.close_all()

    with deleting(bucket) as deleted, ThreadPoolExecutor(1) as pool:
        stored = pool.submit(upload)
        time.sleep(0.5)
        assert not stored.done()
        bucket.keeps_waiting = False
        stored.result()
    assert deleted.result() == 1
    assert files.read(key) == b"a picture"
    assert Attachment.objects.get().sha256 == key


def test_a_file_uploaded_again_is_not_deleted(bucket: FakeS3) -> None:
    key, due = unused_file(), deletion.unused()
    found = list(due)
    uploads.keep_file(key, b"a picture")
    assert [each.pk for each in found] == [key]
    assert not deletion._delete(key)
    assert files.read(key) == b"a picture"


def test_an_upload_gives_up_when_a_deletion_takes_too_long(
    bucket: FakeS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "DELETION_WAIT_SECONDS", 0.3)
    unused_file()
    with deleting(bucket), pytest.raises(StorageUnavailable):
        uploads.keep_file(uploads.sha256_of(b"a picture"), b"a picture")


def test_a_deletion_that_was_cut_off_is_finished_later(bucket: FakeS3) -> None:
    key = unused_file()
    AttachmentFile.objects.all().delete()
    then = timezone.now() - 2 * deletion.CUT_OFF_AFTER
    FileDeletion.objects.create(sha256=key, since=then)
    assert deletion.delete_unused(deletion.unused(), never) == 1
    assert not files.exists(key)
    assert not FileDeletion.objects.exists()


def test_an_upload_takes_over_from_a_deletion_that_was_cut_off(bucket: FakeS3) -> None:
    key = unused_file()
    AttachmentFile.objects.all().delete()
    FileDeletion.objects.create(sha256=key, since=timezone.now() - 2 * deletion.CUT_OFF_AFTER)
    uploads.keep_file(key, b"a picture")
    assert not FileDeletion.objects.exists()
    assert deletion.delete_unused(deletion.unused(), never) == 0
    assert files.read(key) == b"a picture"


def test_a_bucket_that_is_down_keeps_what_was_to_be_deleted(bucket: FakeS3) -> None:
    key = unused_file()
    bucket.down = True
    with pytest.raises(StorageUnavailable):
        deletion.delete_unused(deletion.unused(), never)
    assert AttachmentFile.objects.get().pk == key
    assert not FileDeletion.objects.exists()
    bucket.down = False
    assert deletion.delete_unused(deletion.unused(), never) == 1
    assert bucket.objects == {}


def test_pruning_says_that_the_storage_failed(bucket: FakeS3) -> None:
    uploads.keep_file(uploads.sha256_of(b"x"), b"x")
    AttachmentFile.objects.update(uploaded=timezone.now() - timedelta(hours=2))
    bucket.down = True
    with pytest.raises(CommandError, match="Pruning stopped: Files can’t be stored"):
        call_command("prune")
