"""Storage of an uploaded picture or document, within the limits of its owner."""

import hashlib
import os
import time
import unicodedata
import uuid
from typing import IO, Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Sum
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.limits import MAX_FILE_NAME_CHARS, MEGABYTE
from chat.models import Attachment, AttachmentFile, DocumentPage, FileDeletion, User
from chat.models.attachment import EXTENSIONS, READING_CHARS
from chat.upstream.token_budget import BYTES_PER_TOKEN, estimate_text_tokens

from . import files
from .confined.problem import PICTURES_ONLY
from .decoding import EncodedPicture
from .deletion import CUT_OFF_AFTER
from .extraction import Extracted
from .problems import QuotaExceeded, TooManyUnsent

MAX_UNSENT = 40
DELETION_WAIT_SECONDS = 40  # for the deletion of the same content; longer than a bucket may take
DELETION_POLL_SECONDS = 0.1
UNSAFE_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # control, direction, surrogates, line breaks
MAX_EXTENSION_CHARS = 8  # such as "markdown"


def check_room(user: User, more: int = 0) -> None:
    """Raise TooManyUnsent or QuotaExceeded if the user may not store `more` bytes."""
    own = Attachment.objects.filter(owner=user)
    if own.unsent().count() >= MAX_UNSENT:
        words = _("You have added %(most)s files without sending them. Remove some, or send them.")
        raise TooManyUnsent(words % {"most": MAX_UNSENT})
    check_quota(user, more)


def check_quota(user: User, more: int = 0) -> None:
    """Raise QuotaExceeded if the user may not store `more` bytes."""
    larger = Greatest(F("size"), F("tokens") * BYTES_PER_TOKEN)
    used = Attachment.objects.filter(owner=user).aggregate(used=Sum(larger))["used"] or 0
    if used + more > settings.ATTACHMENT_QUOTA_MB * MEGABYTE:
        words = _(
            "Your files use all of your %(quota)s MB. Delete chats that have files, and delete them from the "
            "trash too."
        )
        raise QuotaExceeded(words % {"quota": settings.ATTACHMENT_QUOTA_MB})


def stored_bytes(fields: dict[str, Any]) -> int:
    """Return what an attachment with these columns takes: as its file, or as its text if that is larger.

    A small archive can hold a large text. The estimate of its tokens says at least how many bytes it has.
    """
    return max(int(fields["size"]), fields.get("tokens", 0) * BYTES_PER_TOKEN)


def store_picture(user: User, name: str, picture: EncodedPicture, key: uuid.UUID | None = None) -> Attachment:
    """Store the picture as an unsent attachment of the user.

    `key`: its id, if the same upload can come again; then what the first one stored is returned. Raises
    TooManyUnsent, QuotaExceeded and StorageUnavailable.
    """
    return _store(user, name, picture.content, picture_fields(picture), key)


def store_document(
    user: User, name: str, file: IO[bytes], document: Extracted, key: uuid.UUID | None = None
) -> Attachment:
    """Store the document in `file`, with its text, as an unsent attachment; `key` as in `store_picture`.

    Raises the same.
    """
    return _store(user, name, file, document_fields(file, document), key, document)


def _store(
    user: User,
    name: str,
    content: bytes | IO[bytes],
    fields: dict[str, Any],
    key: uuid.UUID | None,
    document: Extracted | None = None,
) -> Attachment:
    sha256 = sha256_of(content) if isinstance(content, bytes) else sha256_of_file(content)
    check_room(user, stored_bytes(fields))  # before the file is written, which a refusal would leave behind
    keep_file(sha256, content)
    with write_lock(), transaction.atomic():
        user.lock()  # of two uploads at the same time, the second counts the first
        stored = Attachment.objects.filter(pk=key).first() if key else None
        if stored is None:
            check_room(user, stored_bytes(fields))
            fields |= {"file_id": sha256, "name": clean(name, fields["media_type"])}
            stored = Attachment.objects.create(pk=key or uuid.uuid4(), owner=user, **fields)
        if document:
            keep_pages(sha256, document)
        return stored


def key_in_form(form: uuid.UUID, user: User, position: int, file: IO[bytes]) -> uuid.UUID:
    """Return the id of a form's file, the same whenever the same person sends the form again.

    `position`: among the files of the form, because one file can be chosen twice.
    """
    return uuid.uuid5(form, f"{user.pk} {position} {sha256_of_file(file)}")


def picture_fields(picture: EncodedPicture) -> dict[str, Any]:
    return {
        "media_type": picture.media_type,
        "width": picture.width,
        "height": picture.height,
        "size": len(picture.content),
    }


def document_fields(file: IO[bytes], document: Extracted) -> dict[str, Any]:
    return {
        "media_type": document.media_type,
        "width": 0,
        "height": 0,
        "size": file.seek(0, os.SEEK_END),
        "pages": len(document.pages),
        "pages_without_text": document.pages.count(PICTURES_ONLY),
        "tokens": sum(map(estimate_text_tokens, document.pages)),
        "reading": reading_of(document),
    }


def keep_pages(sha256: str, document: Extracted) -> None:
    """Store the text of a document's pages, unless another upload of this file has stored the same."""
    key = {"file_id": sha256, "media_type": document.media_type, "reading": reading_of(document)}
    rows = [DocumentPage(**key, number=number, text=text) for number, text in enumerate(document.pages, 1)]
    DocumentPage.objects.bulk_create(rows, ignore_conflicts=True)


def reading_of(document: Extracted) -> str:
    return sha256_of("\f".join(document.pages).encode())[:READING_CHARS]


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sha256_of_file(file: IO[bytes]) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def keep_file(sha256: str, content: bytes | IO[bytes]) -> None:
    """Store the file. It stays for `deletion.UNUSED_FOR` without an attachment, too. Blocks.

    One that is there is written again, because it may be damaged. Raises StorageUnavailable.
    """
    give_up = time.monotonic() + DELETION_WAIT_SECONDS
    while not _keep_row(sha256):
        if time.monotonic() > give_up:
            raise files.unavailable()
        time.sleep(DELETION_POLL_SECONDS)
    files.write(sha256, content)


def _keep_row(sha256: str) -> bool:
    """Store the file's row. False while the file is being deleted, which would delete what is written now."""
    row = AttachmentFile(sha256=sha256)
    with write_lock(), transaction.atomic():
        AttachmentFile.objects.bulk_create(
            [row], update_conflicts=True, update_fields=["uploaded"], unique_fields=["sha256"]
        )
        # Asked only now: a deletion that is about to begin holds the lock of the row.
        deletions = FileDeletion.objects.filter(pk=sha256)
        deletions.filter(since__lt=timezone.now() - CUT_OFF_AFTER).delete()
        if deletions.exists():
            transaction.set_rollback(True)
            return False
    return True


def clean(name: str, media_type: str) -> str:
    """Return the last part of the client's path, with the extension of a stored picture; at most 100 long.

    Without control characters and without those that change the direction of text, which could make
    "gpj.exe" read as "exe.jpg".
    """
    stem, extension = _parts(name)
    usual = "document"  # whose stored bytes are the client's, as is its extension
    if media_type in EXTENSIONS:
        usual, extension = "picture", EXTENSIONS[media_type]
    ending = f".{extension}" if extension else ""
    return (stem.strip(". ")[: MAX_FILE_NAME_CHARS - len(ending)].rstrip(". ") or usual) + ending


def _parts(name: str) -> tuple[str, str]:
    """Return the stem and the extension, without its dot; "" if there is none."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c for c in last if unicodedata.category(c) not in UNSAFE_CATEGORIES)
    whole = " ".join(shown.split())
    stem, dot, extension = whole.rpartition(".")
    if not dot or not stem or len(extension) > MAX_EXTENSION_CHARS or not extension.isalnum():
        return whole, ""
    return stem, extension
