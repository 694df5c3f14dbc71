"""The refusals of attachments, each with a code of its own."""

from chat.exceptions import RequestError


class TooLarge(RequestError):
    status, code = 413, "attachment_too_large"


class NotAPicture(RequestError):
    """The content is of no type that this site reads, whatever its name says."""

    status, code = 415, "not_a_picture"


class BrokenPicture(RequestError):
    status, code = 422, "broken_picture"


class TooManyPixels(RequestError):
    status, code = 422, "too_many_pixels"


class TookTooLong(RequestError):
    status, code = 422, "picture_took_too_long"


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
