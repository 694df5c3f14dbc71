"""The upload handler that writes an import's file straight into the folder of imports."""

import contextlib
import uuid
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, PayloadTooLarge
from chat.files.problems import StorageUnavailable
from chat.files.receiving import disk_errors, empty_file, form_errors
from chat.limits import MEBIBYTE
from chat.models.import_job import MAX_IMPORT_NAME_CHARS
from chat.wire.text import sanitize

from . import uploads

FILE_FIELD = "file"


class EmptyFile(BadRequest):
    """The form has no file, or an empty one."""


class ImportFile(FileUploadHandler):
    """Write the form's file to the path of the import `job`. `size` is None until a file has begun."""

    def __init__(self, request: HttpRequest, job: uuid.UUID) -> None:
        super().__init__(request)
        self.path = uploads.path_of(job)
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
        if self.size > uploads.max_file_bytes():
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
    return words % {"size": uploads.max_file_bytes() // MEBIBYTE}
