"""What a call can be refused with, before any stream. Nothing was changed."""

import uuid


class RequestError(Exception):
    """`status` is HTTP's, `code` is for programs, the text for people; `retry_after` in seconds."""

    status = 400
    code = "malformed"

    def __init__(self, message: str, *, retry_after: int | None = None, run: uuid.UUID | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        self.run = run


class BadRequest(RequestError):
    """Blank, of a wrong type, or unknown."""


class NotAuthenticated(RequestError):
    status, code = 401, "signed_out"


class NotFound(RequestError):
    """The same for what does not exist and for what is somebody else's."""

    status, code = 404, "not_found"


class ConversationBusy(RequestError):
    """The conversation has a live run, named in `run`."""

    status, code = 409, "busy"


class Conflict(RequestError):
    """The client key was used for something else, or this cannot be done with that message."""

    status, code = 409, "conflict"


class PayloadTooLarge(RequestError):
    status, code = 413, "too_long"


class UnsupportedMediaType(RequestError):
    status, code = 415, "unsupported_media_type"


class ServiceOverloaded(RequestError):
    """This person has asked for more at once than is worked on for one person."""

    status, code = 429, "throttled"


class ServiceDraining(RequestError):
    status, code = 503, "draining"
