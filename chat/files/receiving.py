"""Forms that bring files, and the handler that writes these as they arrive: uploads into nameless files."""

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.core.exceptions import (
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.files.uploadhandler import FileUploadHandler
from django.http import UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, RequestError
from chat.limits import MAX_BODY_BYTES

from .problems import StorageUnavailable

# In the ASGI scope, if the server can do that: the file with the body, which is never read into memory.
UPLOAD = "chat.upload"
UPLOAD_RETRY_SECONDS = 60
ATTACHMENT_FORM_BYTES = 65_536  # allowance for the multipart form around a file
MAX_RAW_NAME_CHARS = 1_000
FORM_TYPE = b"multipart/form-data"
FILE_INPUT, IMAGE_INPUT = "file", "image_file"  # the fields of forms that bring files
UPLOAD_VIEW = "chat:attachments"
# Of pages without scripts, whose forms bring files: `chat.views.files.form_files.receives`.
FORM_VIEWS = ("chat:new", "chat:send", "chat:assistants", "chat:assistant", "site")
UPLOAD_ERRORS = (
    MultiPartParserError,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
    UnreadablePostError,
)

logger = logging.getLogger(__name__)


def body_limit(uri: bytes, content_type: bytes) -> int:
    """Return the size limit in bytes of a POST that may bring files, otherwise 0."""
    if not settings.ATTACHMENTS or not content_type.lower().startswith(FORM_TYPE):
        return 0
    try:
        view = resolve(uri.partition(b"?")[0].decode("latin-1")).view_name
    except Resolver404:
        return 0
    if view == UPLOAD_VIEW:
        return int(settings.ATTACHMENT_MAX_BYTES) + ATTACHMENT_FORM_BYTES
    if view in FORM_VIEWS:
        return int(settings.ATTACHMENT_MAX_BYTES) + MAX_BODY_BYTES
    return 0


def session_of(cookies: Sequence[bytes]) -> str:
    """Return the session key in the Cookie headers; "" if there is none. Whether it is valid is not known."""
    try:
        found = SimpleCookie("; ".join(each.decode("latin-1") for each in cookies))
    except CookieError:
        return ""
    morsel = found.get(settings.SESSION_COOKIE_NAME)
    return morsel.value if morsel else ""


def is_signed_in(session: str) -> bool:
    """Return True if this is the session of somebody who signed in. Queries the database."""
    store = import_module(settings.SESSION_ENGINE).SessionStore(session)
    return SESSION_KEY in store


def folder() -> Path:
    """Return the folder for bodies that arrive; the files in it have no names."""
    found = Path(settings.DATA_DIR) / "uploads"
    found.mkdir(mode=0o700, exist_ok=True)
    return found


@dataclass(slots=True)
class ReceivedFile:
    """An uploaded file of unknown content, from the form's `field`. `name` is what the client wrote."""

    field: str
    name: str
    file: IO[bytes]
    size: int


@contextmanager
def disk_errors() -> Iterator[None]:
    """Raise StorageUnavailable where a file that arrives cannot be written."""
    try:
        yield
    except OSError as error:
        logger.error("an uploaded file could not be written: %s", error)
        raise StorageUnavailable(unwritable(), retry_after=UPLOAD_RETRY_SECONDS) from error


@contextmanager
def form_errors(discard: Callable[[], None], too_large: Callable[[], RequestError]) -> Iterator[None]:
    """Call `discard` where a form cannot be read or is refused.

    Raises `too_large()`, BadRequest, and what the block raises.
    """
    try:
        yield
    except BaseException as error:
        discard()
        if isinstance(error, RequestDataTooBig):
            raise too_large() from error
        if isinstance(error, UPLOAD_ERRORS):
            raise BadRequest(_("The form data can’t be read.")) from error
        raise


def empty_file() -> str:
    return _("Choose a file that isn’t empty.")


def unwritable() -> str:
    return _("The server’s disk is full or can’t be written. Tell your administrator.")


def temporary_file() -> IO[bytes]:
    """Return a new file without a name. Raises StorageUnavailable."""
    with disk_errors():
        return tempfile.TemporaryFile(dir=folder())


class NoFiles(FileUploadHandler):
    """Refuse a form with a file before any of it is stored: every form whose view sets no other handler."""

    def new_file(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TooManyFilesSent("This form takes no files.")


class FormFiles(FileUploadHandler):
    """Collect the files of some fields in `files`; the caller closes them. Refuse other fields' files.

    `most`: the number of files by field. `open_file`: makes a file for one that arrives. Raises
    RequestDataTooBig for one of more than `max_bytes`.
    """

    def __init__(
        self,
        most: Mapping[str, int],
        max_bytes: int | None = None,
        open_file: Callable[[], IO[bytes]] = temporary_file,
    ) -> None:
        super().__init__()
        self.most = most
        self.files: list[ReceivedFile] = []
        self._max_bytes = settings.ATTACHMENT_MAX_BYTES if max_bytes is None else max_bytes
        self._open_file = open_file

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        super().new_file(field_name, file_name, *args, **kwargs)
        if field_name not in self.most:
            raise TooManyFilesSent(f"no file is expected in {field_name!r}")
        if len(self.of(field_name)) >= self.most[field_name]:
            raise TooManyFilesSent("there are too many files")
        with disk_errors():
            self.files.append(ReceivedFile(field_name, file_name[:MAX_RAW_NAME_CHARS], self._open_file(), 0))

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        received = self.files[-1]
        received.size += len(raw_data)
        if received.size > self._max_bytes:
            raise RequestDataTooBig("the file is too large")
        with disk_errors():
            received.file.write(raw_data)

    def of(self, field: str) -> list[ReceivedFile]:
        return [each for each in self.files if each.field == field]

    def file_complete(self, file_size: int) -> None:
        with disk_errors():
            self.files[-1].file.flush()

    def close(self) -> None:
        for received in self.files:
            with suppress(OSError):  # of a full disk
                received.file.close()
