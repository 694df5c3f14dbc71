"""The refusals of attachments, each with a code of its own."""

import uuid
from collections.abc import Iterable

from django.utils.translation import gettext as _

from chat.exceptions import AttachmentNotFound, RequestError


def gone(attachments: Iterable[uuid.UUID]) -> AttachmentNotFound:
    """Return the refusal of attachments that are not there anymore, or not the user's."""
    return AttachmentNotFound(_("A file isn’t there anymore. Add it again."), attachments)


class TooLarge(RequestError):
    status, code = 413, "attachment_too_large"


class Unreadable(RequestError):
    """The content is of no type that this site reads, whatever its name says, or it can't be read."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code
        self.status = 415 if code in ("not_a_picture", "not_a_document") else 422


class TooManyUnsent(RequestError):
    status, code = 429, "too_many_unsent"


class TooManyAtOnce(RequestError):
    status, code = 429, "throttled"


class QuotaExceeded(RequestError):
    status, code = 507, "quota_exceeded"


class StorageUnavailable(RequestError):
    """The disk is full, or the bucket does not answer."""

    status, code = 503, "storage_unavailable"


class AlreadySent(RequestError):
    """The attachment belongs to a message, with which it is deleted."""

    status, code = 409, "attachment_sent"


class ConversionUnavailable(RequestError):
    """The conversion of this type needs Cloudflare, which does not respond or has no account set."""

    status, code = 503, "conversion_unavailable"


class UnconfinedFiles(RequestError):
    """The system cannot confine the processes that read files: `lacking` is what is missing."""

    status, code = 503, "unconfined_files"

    def __init__(self, lacking: str) -> None:
        super().__init__(
            _("This server can’t read files safely, so it refuses them. Tell your administrator.")
        )
        self.lacking = lacking
