"""Deletion of stored files that no attachment needs any more."""

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from chat.db.batches import Stop
from chat.db.executor import short_transaction, write_lock
from chat.models import Attachment, AttachmentFile, FileDeletion

from . import files
from .problems import StorageUnavailable

UNSENT_FOR = timedelta(hours=24)
UNUSED_FOR = timedelta(hours=1)  # after the last upload of this content, which may not have its row yet
STRAY_FOR = timedelta(days=1)
# Far longer than a storage takes to answer or to fail: then the process that deletes a file has died.
CUT_OFF_AFTER = timedelta(minutes=5)
BATCH_FILES = 50
DIGEST_FOLDERS = [f"{number:02x}" for number in range(256)]


def unsent() -> QuerySet[Attachment]:
    """Return the attachments that were uploaded a day ago and that no message and no assistant has."""
    return Attachment.objects.unsent().filter(created__lt=timezone.now() - UNSENT_FOR)


def discard(attachments: Collection[uuid.UUID]) -> int:
    """Delete these attachments, except those that a message or an assistant has. Return their number.

    Call it in a transaction. It locks their rows before it looks, because a question that is sent meanwhile
    would lose its file. Everything that locks several of these rows does so in the order of their keys.
    """
    rows = Attachment.objects.filter(pk__in=attachments).order_by("pk")
    locked = list(rows.select_for_update().values_list("pk", flat=True))
    _, by_table = Attachment.objects.unsent().filter(pk__in=locked).delete()
    return by_table.get(Attachment._meta.label, 0)


def unused() -> QuerySet[AttachmentFile]:
    needed = Exists(Attachment.objects.filter(file=OuterRef("pk")))
    return AttachmentFile.objects.filter(~needed, uploaded__lt=timezone.now() - UNUSED_FOR)


def delete_unused(rows: QuerySet[AttachmentFile], stop: Stop) -> int:
    """Delete unused files with their rows until `stop()`. Return their number. Raises StorageUnavailable."""
    deleted, last = _finish_cut_off(stop), ""
    while not stop():
        found = rows.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)
        keys = list(found[:BATCH_FILES])
        if not keys:
            break
        deleted += sum(_delete(key) for key in keys if not stop())
        last = keys[-1]
    return deleted


def _delete(sha256: str) -> bool:
    """Delete a file and its row, unless an attachment needs it by now.

    The row goes first, so a copy of an attachment fails. Then an upload of the same content waits, see
    `uploads.keep_file`. The storage can be slow, so it is called while no lock is held.
    """
    begun = FileDeletion(sha256=sha256)
    with short_transaction():
        row = AttachmentFile.objects.select_for_update().filter(pk=sha256).first()
        if row is None or not unused().filter(pk=sha256).exists():
            return False
        if FileDeletion.objects.filter(pk=sha256).exists():  # by another process
            return False
        AttachmentFile.objects.filter(pk=sha256).delete()
        begun.save(force_insert=True)
    _finish(begun, row)
    return True


def _finish(begun: FileDeletion, row: AttachmentFile) -> None:
    """Delete the file. If the storage fails, make the row anew: the next pruning tries again."""
    try:
        files.delete(files.name_of(row.sha256))
    except StorageUnavailable:
        with short_transaction():
            AttachmentFile.objects.bulk_create([row], ignore_conflicts=True)
            _end(begun)
        raise
    with short_transaction():
        _end(begun)


def _end(begun: FileDeletion) -> None:
    FileDeletion.objects.filter(pk=begun.pk, since=begun.since).delete()


def _finish_cut_off(stop: Stop) -> int:
    """Finish the deletions whose process died. Return their number."""
    finished = 0
    for begun in FileDeletion.objects.filter(since__lt=timezone.now() - CUT_OFF_AFTER):
        if stop():
            break
        with short_transaction():
            now = timezone.now()
            # Uploads wait again, and other processes leave it.
            if not FileDeletion.objects.filter(pk=begun.pk, since=begun.since).update(since=now):
                continue
            begun.since = now
            if AttachmentFile.objects.filter(pk=begun.pk).exists():  # uploaded again by an older version
                _end(begun)
                continue
        _finish(begun, AttachmentFile(sha256=begun.pk, uploaded=now - 2 * UNUSED_FOR))
        finished += 1
    return finished


def stray(stop: Stop) -> list[str]:
    """Return the names of stored files without a row, such as an old backup brings. Lists the storage."""
    found: list[str] = []
    before = timezone.now() - STRAY_FOR
    for folder in DIGEST_FOLDERS:
        if stop():
            break
        names = files.names_in(folder)
        known = set(AttachmentFile.objects.filter(pk__startswith=folder).values_list("pk", flat=True))
        found += [f"{folder}/{name}" for name in names - known if _is_older(f"{folder}/{name}", before)]
    return found


def missing() -> list[str]:
    """Return the names of files that attachments need and the storage does not have. Lists the storage."""
    needed = Exists(Attachment.objects.filter(file=OuterRef("pk")))
    found: list[str] = []
    for folder in DIGEST_FOLDERS:
        rows = AttachmentFile.objects.filter(needed, pk__startswith=folder)
        names = set(rows.values_list("pk", flat=True))  # before the listing: later uploads are not missing
        found += [f"{folder}/{name}" for name in sorted(names - files.names_in(folder))] if names else []
    return found


def delete_stray(stop: Stop) -> int:
    """Delete the files that `stray` returns, until `stop()`. Return their number.

    Raises StorageUnavailable.
    """
    return sum(_delete_stray(name) for name in stray(stop) if not stop())


def _delete_stray(name: str) -> bool:
    """Delete a file that had no row, unless an upload of its content has made one meanwhile.

    It first gets a row, as any file has.
    """
    sha256 = name.rpartition("/")[2]
    if not files.SHA256.fullmatch(sha256):  # the beginning of a file whose process was killed
        files.delete(name)
        return True
    row = AttachmentFile(sha256=sha256, uploaded=timezone.now() - 2 * UNUSED_FOR)
    with write_lock():
        AttachmentFile.objects.bulk_create([row], ignore_conflicts=True)
    return _delete(sha256)


def _is_older(name: str, before: datetime) -> bool:
    try:
        return files.modified(name) < before
    except FileNotFoundError:  # deleted meanwhile
        return False
