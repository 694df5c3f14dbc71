"""Exceptions that refuse a request before its stream begins. When one is raised, nothing has been changed."""

import uuid
from collections.abc import Iterable


class RequestError(Exception):
    """The base of all refusals.

    `status` is the HTTP status, `code` is for programs, `message` for people (translated), `retry_after` is
    in seconds, and `run` is the id of the live run that is in the way, if there is one. `param` names the
    field of an API request that is wrong.
    """

    status = 400
    code = "malformed"
    param = ""

    def __init__(self, message: str, *, retry_after: int | None = None, run: uuid.UUID | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        self.run = run


class BadRequest(RequestError):
    """A value in the request is blank, of the wrong type, or unknown."""


class AttachmentNotFound(BadRequest):
    """Attachments, those of the ids `attachments`, are unknown, another user's, or already sent."""

    code = "attachment_not_found"

    def __init__(self, message: str, attachments: Iterable[uuid.UUID]) -> None:
        super().__init__(message)
        self.attachments = list(attachments)


class ModelCannotSee(BadRequest):
    """The question has pictures, and its model cannot see."""

    code = "model_cannot_see"


class NotAuthenticated(RequestError):
    status, code = 401, "signed_out"


class NotFound(RequestError):
    """The object does not exist or belongs to another user; the response is the same."""

    status, code = 404, "not_found"


class Forbidden(RequestError):
    """The form has expired, or was not sent from a page of this site."""

    status, code = 403, "forbidden"


class WrongPassword(RequestError):
    """The password sent is not that of the person who is signed in."""

    status, code = 403, "wrong_password"


class ConversationBusy(RequestError):
    """The conversation has a live run, whose id is `run`."""

    status, code = 409, "busy"


class Conflict(RequestError):
    """The client key was used for another request, or the message does not allow this action."""

    status, code = 409, "conflict"


class PayloadTooLarge(RequestError):
    status, code = 413, "too_long"


class UnsupportedMediaType(RequestError):
    status, code = 415, "unsupported_media_type"


class ServiceOverloaded(RequestError):
    """One user has more requests in progress than the server works on for one user at a time."""

    status, code = 429, "throttled"


class ServiceDraining(RequestError):
    status, code = 503, "draining"
