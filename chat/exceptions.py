"""What a call can be refused with, before any stream. Nothing was changed."""

import uuid


class Refusal(Exception):
    """`status` is HTTP's, `code` is for programs, the text for people; `retry_after` in seconds."""

    status = 400
    code = "malformed"

    def __init__(self, message: str, *, retry_after: int | None = None, run: uuid.UUID | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        self.run = run


class Malformed(Refusal):
    """Blank, of a wrong type, or unknown."""


class SignedOut(Refusal):
    status, code = 401, "signed_out"


class Missing(Refusal):
    """The same for what does not exist and for what is somebody else's."""

    status, code = 404, "not_found"


class Busy(Refusal):
    """The conversation has a live run, named in `run`."""

    status, code = 409, "busy"


class Conflict(Refusal):
    """The client key was used for something else, or this cannot be done with that message."""

    status, code = 409, "conflict"


class TooLong(Refusal):
    status, code = 413, "too_long"


class WrongType(Refusal):
    status, code = 415, "unsupported_media_type"


class Overloaded(Refusal):
    """This person has asked for more at once than is worked on for one person."""

    status, code = 429, "throttled"


class Draining(Refusal):
    status, code = 503, "draining"
