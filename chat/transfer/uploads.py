"""The files of imports: permits to upload them, and the folder that keeps them until an import has ended.

The files are in `imports` of DATA_DIR and not in the database: they may be much larger than what is stored of
them, and reading a zip archive needs random access. A process imports only files in its own DATA_DIR.
"""

import contextlib
import uuid
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qs

from django.conf import settings
from django.core import signing
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, PayloadTooLarge
from chat.files.problems import StorageUnavailable
from chat.files.receiving import disk_errors, empty_file, form_errors
from chat.limits import MEBIBYTE
from chat.models.import_job import MAX_IMPORT_NAME_CHARS
from chat.wire.text import sanitize

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


class ImportFile(FileUploadHandler):
    """Write the form's file to the path of the import `job`. `size` is None until a file has begun."""

    def __init__(self, request: HttpRequest, job: uuid.UUID) -> None:
        super().__init__(request)
        self.path = path_of(job)
        self.name = ""
        self.size: int | None = None
        self._file: IO[bytes] | None = None

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        super().new_file(field_name, file_name, *args, **kwargs)
        if self.size is not None:
            raise TooManyFilesSent("one file is imported at a time")
        if field_name != FILE_FIELD:
            raise StopUpload(connection_reset=True)
        self.name = sanitize(file_name)[:MAX_IMPORT_NAME_CHARS]
        with disk_errors():
            self.path.touch(mode=0o600)
            self._file, self.size = self.path.open("wb"), 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self._file
        self.size = start + len(raw_data)
        if self.size > max_file_bytes():
            raise RequestDataTooBig
        with disk_errors():
            self._file.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        self.close()

    def close(self) -> None:
        if self._file:
            with disk_errors():
                self._file.close()

    def discard(self) -> None:
        with contextlib.suppress(StorageUnavailable):
            self.close()
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()


def receive(request: HttpRequest, job: uuid.UUID) -> ImportFile:
    """Store the file of the request's form. Raises BadRequest, PayloadTooLarge and StorageUnavailable.

    Then no file is left.
    """
    handler = ImportFile(request, job)
    request.upload_handlers = [handler]
    with form_errors(handler.discard, lambda: PayloadTooLarge(too_large())):
        request.POST.dict()  # Django reads the form now, and calls the handler
        if not handler.size:
            raise EmptyFile(empty_file())
    return handler


def too_large() -> str:
    words = _(
        "The file is larger than %(size)s MiB. An administrator can raise that limit with IMPORT_MAX_MB."
    )
    return words % {"size": max_file_bytes() // MEBIBYTE}
