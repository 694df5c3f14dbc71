"""The files of imports: permits to upload them, and the folder that keeps them until an import has ended.

The files are in `imports` of DATA_DIR and not in the database: they may be much larger than what is stored of
them, and reading a zip archive needs random access. A process imports only files in its own DATA_DIR.
"""

import uuid
from contextlib import closing
from pathlib import Path
from typing import IO
from urllib.parse import parse_qs

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, PayloadTooLarge
from chat.files.receiving import FormFiles, ReceivedFile, empty_file, form_errors
from chat.limits import MEBIBYTE

IMPORT_FORM_BYTES = 65_536  # allowance for the multipart form around the file
PERMIT_SECONDS = 86_400
FILE_FIELD = "file"
UPLOAD_SALT = "chat.transfer.upload"


def max_file_bytes() -> int:
    """Return the size limit of a file; 0 if imports are off."""
    return int(settings.IMPORT_MAX_MB) * MEBIBYTE


def folder() -> Path:
    found = Path(settings.DATA_DIR) / "imports"
    found.mkdir(mode=0o700, exist_ok=True)
    return found


def path_of(job: uuid.UUID) -> Path:
    return folder() / str(job)


def permit(user: int) -> str:
    """Return a token that lets this person send a large body.

    The server checks it before it reads the body, without a database query. It also takes the place of the
    CSRF token: it is in this person's page only, and no other site can sign one.
    """
    return signing.TimestampSigner(salt=UPLOAD_SALT).sign(str(user))


def body_limit(uri: bytes) -> tuple[int, int] | None:
    """Return (user id, size limit of the body) if a POST to it may upload a file, otherwise None."""
    path, _, query = uri.partition(b"?")
    if path != reverse("chat:import").encode() or not max_file_bytes():
        return None
    token = parse_qs(query.decode("latin-1")).get("permit", [""])[0]
    person = permitted(token)
    return None if person is None else (person, max_file_bytes() + IMPORT_FORM_BYTES)


def permitted(token: str) -> int | None:
    """Return the id of the user for whom the token was made; None if it is invalid or has expired."""
    try:
        return int(signing.TimestampSigner(salt=UPLOAD_SALT).unsign(token, max_age=PERMIT_SECONDS))
    except (signing.BadSignature, ValueError):
        return None


class EmptyFile(BadRequest):
    """The form has no file, or an empty one."""


def receive(request: HttpRequest, job: uuid.UUID) -> ReceivedFile:
    """Store the file of the request's form. Raises BadRequest, PayloadTooLarge and StorageUnavailable.

    Then no file is left.
    """
    handler = FormFiles({FILE_FIELD: 1}, max_file_bytes(), lambda: _new_file(job))
    request.upload_handlers = [handler]
    with closing(handler), form_errors(lambda: discard(job), lambda: PayloadTooLarge(too_large())):
        request.POST.dict()  # Django reads the form now, and calls the handler
        if not handler.files or not handler.files[0].size:
            raise EmptyFile(empty_file())
        return handler.files[0]


def _new_file(job: uuid.UUID) -> IO[bytes]:
    path_of(job).touch(mode=0o600)
    return path_of(job).open("wb")


def discard(job: uuid.UUID) -> None:
    path_of(job).unlink(missing_ok=True)


def too_large() -> str:
    words = _(
        "The file is larger than %(size)s MiB. An administrator can raise that limit with IMPORT_MAX_MB."
    )
    return words % {"size": max_file_bytes() // MEBIBYTE}
