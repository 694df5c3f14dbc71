"""Storage of an uploaded picture, within the limits of its owner."""

import hashlib

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from chat.db import write_lock
from chat.models import Attachment, AttachmentFile, User

from . import files, names
from .decoding import Picture
from .problems import QuotaExceeded, TooManyUnsent

MAX_UNSENT = 40
MEGABYTE = 1_000_000


def check_room(user: User, more: int = 0) -> None:
    """Raise TooManyUnsent or QuotaExceeded if the user may not store `more` bytes."""
    own = Attachment.objects.filter(owner=user)
    if own.unsent().count() >= MAX_UNSENT:
        words = _("You have added %(most)s pictures without sending them. Remove some, or send them.")
        raise TooManyUnsent(words % {"most": MAX_UNSENT})
    check_quota(user, more)


def check_quota(user: User, more: int = 0) -> None:
    """Raise QuotaExceeded if the user may not store `more` bytes."""
    used = Attachment.objects.filter(owner=user).aggregate(used=Sum("size"))["used"] or 0
    if used + more > settings.ATTACHMENT_QUOTA_MB * MEGABYTE:
        words = _("Your pictures take up all of your %(quota)s MB. Delete conversations with pictures.")
        raise QuotaExceeded(words % {"quota": settings.ATTACHMENT_QUOTA_MB})


def store(user: User, name: str, picture: Picture) -> Attachment:
    """Store the picture as an unsent attachment of the user. Raises TooManyUnsent and QuotaExceeded."""
    sha256 = digest_of(picture.content)
    keep_file(sha256, picture.content)
    with write_lock(), transaction.atomic():
        user.lock()  # of two uploads at the same time, the second counts the first
        check_room(user, len(picture.content))
        return Attachment.objects.create(
            owner=user,
            file_id=sha256,
            media_type=picture.media_type,
            name=names.clean(name, picture.media_type),
            width=picture.width,
            height=picture.height,
            size=len(picture.content),
        )


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def keep_file(sha256: str, content: bytes) -> None:
    """Store the file unless it is stored. It stays for `deletion.UNUSED_FOR` without an attachment, too."""
    row = AttachmentFile(sha256=sha256)
    with write_lock():
        AttachmentFile.objects.bulk_create(
            [row], update_conflicts=True, update_fields=["uploaded"], unique_fields=["sha256"]
        )
    if not files.exists(sha256):
        files.write(sha256, content)
