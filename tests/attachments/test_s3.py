"""Pictures in a bucket."""

import importlib.util
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from chat.attachments import deletion, files, uploads
from chat.attachments.decoding import Picture
from chat.attachments.problems import StorageUnavailable
from chat.db import short_transaction
from chat.models import Attachment, AttachmentFile, User
from tests.conftest import missing
from tests.support.fake_s3 import FakeS3, serving

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
    stored = uploads.store(alice, "a.jpg", Picture(b"a picture", "image/jpeg", 4, 3))
    assert bucket.objects == {f"attachments/{files.name_of(stored.sha256)}": b"a picture"}
    assert files.read(stored.sha256) == b"a picture"
    Attachment.objects.all().delete()
    AttachmentFile.objects.update(uploaded=timezone.now() - timedelta(hours=2))
    assert deletion.delete_unused(deletion.unused(), never) == 1
    assert bucket.objects == {}
    with pytest.raises(FileNotFoundError):
        files.read(stored.sha256)


def test_files_without_a_row_are_found(bucket: FakeS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "FOLDERS", ["aa", "ab", "ff"])  # of 256: each is a request
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
        uploads.store(alice, "a.jpg", Picture(b"a picture", "image/jpeg", 4, 3))
    assert not Attachment.objects.exists()
    bucket.down = False
    assert uploads.store(alice, "a.jpg", Picture(b"a picture", "image/jpeg", 4, 3))


def test_no_lock_is_held_while_a_bucket_is_down(bucket: FakeS3, monkeypatch: pytest.MonkeyPatch) -> None:
    uploads.keep_file(uploads.sha256_of(b"x"), b"x")
    AttachmentFile.objects.update(uploaded=timezone.now() - timedelta(hours=2))
    bucket.down = True
    locked: list[bool] = []

    def lock() -> AbstractContextManager[None]:
        locked.append(True)
        return short_transaction()

    monkeypatch.setattr(deletion, "short_transaction", lock)
    with pytest.raises(StorageUnavailable):
        deletion.delete_unused(deletion.unused(), never)
    assert not locked
    bucket.down = False
    assert deletion.delete_unused(deletion.unused(), never) == 1
    assert locked


def test_pruning_says_that_the_storage_failed(bucket: FakeS3) -> None:
    uploads.keep_file(uploads.sha256_of(b"x"), b"x")
    AttachmentFile.objects.update(uploaded=timezone.now() - timedelta(hours=2))
    bucket.down = True
    with pytest.raises(CommandError, match="Pruning stopped: Files can’t be stored"):
        call_command("prune")
