"""The pictures and documents of imported conversations, each read as an upload is.

They are in the archive, or in the messages of another chat's file, whose contents the child tells.
"""

import io
import logging
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar

from django.conf import settings

from chat.attachments import names, reading, uploads
from chat.attachments.confinement import BEAT_SECONDS
from chat.attachments.decoding import EncodedPicture, decode
from chat.attachments.extraction import Extracted, NeedsConversion
from chat.attachments.problems import ConversionUnavailable, QuotaExceeded, StorageUnavailable
from chat.attachments.readers import READERS
from chat.attachments.receiving import disk_errors, temporary_file
from chat.db import short_transaction
from chat.exceptions import RequestError
from chat.models import Attachment, User

from .document import file_name
from .problems import FileProblem
from .records import ImportedAttachment
from .sources import ENCRYPTED, UNZIP_ERRORS, ZIP_METHODS, open_archive

MAX_FILES = 2_000  # files of one import
# In ChatGPT's archives: file-AbC123-cat.png, user-x/file_00ab-1234.png, file-AbC123.dat.
ID = re.compile(r"(?:[^/]+/)*(file[-_][A-Za-z0-9]+)[-.]")
ATTACHMENT_PIECE_BYTES = 1_048_576

FILE_COLUMNS = (
    *("file_id", "media_type", "width", "height", "size"),
    *("pages", "pages_without_text", "tokens", "reading"),
)
# Called with the person, the file, and what was raised for it: see chat/attachments/conversion.py.
ConvertDocument = Callable[[int, IO[bytes], NeedsConversion], "Future[Extracted]"]
T = TypeVar("T")

logger = logging.getLogger(__name__)


def refuse_conversion(person: int, file: IO[bytes], needed: NeedsConversion) -> NoReturn:
    """Stand for the conversion of documents where no server runs."""
    raise needed


class Attachments:
    """The pictures and documents of the imported file at `path`, for one person.

    `beat` is called every second while one is read.
    """

    def __init__(
        self, user: User, path: Path, beat: Callable[[], object], convert: ConvertDocument = refuse_conversion
    ) -> None:
        self._user, self._beat, self._convert = user, beat, convert
        self._file = path.open("rb")  # its position is not the one of the child
        self._told: IO[bytes] | None = None  # contents that the child has told, of one conversation
        self._archive: zipfile.ZipFile | None = None
        self._by_id: dict[str, zipfile.ZipInfo] = {}  # the files of ChatGPT's archives
        self._is_open = False
        # By name, and the side of the square: each file is read once.
        self._stored: dict[tuple[str, int], dict[str, Any] | None] = {}
        self._pending = 0  # bytes of the attachments that have no rows yet, which the quota does not count

    def close(self) -> None:
        self.forget()
        self._file.close()

    def left_out(self, attachments: Iterable[ImportedAttachment]) -> list[str]:
        """Return the names of those that cannot be imported."""
        return [each.name for each in attachments if not self._is_here(each)]

    def _is_here(self, attachment: ImportedAttachment) -> bool:
        if attachment.size:
            return settings.ATTACHMENTS and attachment.size <= settings.ATTACHMENT_MAX_BYTES
        return self._entry(attachment.file) is not None

    def keep(self, content: bytes) -> int:
        """Keep the content of an attachment of the next conversation; return its `offset`."""
        self._told = self._told or temporary_file()
        with disk_errors():
            offset = self._told.seek(0, io.SEEK_END)
            self._told.write(content)
            return offset

    def forget(self) -> None:
        """Forget the contents of a conversation; its attachments have their rows."""
        if self._told:
            self._told.close()
        self._told, self._pending = None, 0

    def store(self, attachment: ImportedAttachment) -> None:
        """Store the file and set `attachment.stored`; leave it None if it is missing, broken or too much.

        Raises StorageUnavailable and ConversionUnavailable, if the file can be stored later.
        """
        if attachment.size:
            fields = self._read(attachment.name, 0, self._copied, attachment)
        else:
            wanted = attachment.file, attachment.side
            if wanted not in self._stored and len(self._stored) < MAX_FILES:
                entry = self._entry(attachment.file)
                self._stored[wanted] = (
                    self._read(entry.filename, attachment.side, self._unpacked, entry) if entry else None
                )
            fields = self._stored.get(wanted)
        if fields:
            attachment.stored = fields | {"name": names.clean(attachment.name, fields["media_type"])}
            self._pending += uploads.stored_bytes(fields)

    def _read(
        self, name: str, side: int, opened: Callable[[T], AbstractContextManager[IO[bytes]]], source: T
    ) -> dict[str, Any] | None:
        try:
            with opened(source) as file:
                known = self._keep_known(file, name, side)
                return known or self._keep(file, self._found_in(file, name, side))
        except (RequestError, *UNZIP_ERRORS) as error:
            if isinstance(error, (StorageUnavailable, ConversionUnavailable)) and error.retry_after:
                raise  # the file is good, and the import goes on once it can be stored
            level = logging.INFO if isinstance(error, QuotaExceeded) else logging.WARNING
            logger.log(level, "an attachment was left out of an import: %s", error)
            return None

    def _keep_known(self, file: IO[bytes], name: str, side: int) -> dict[str, Any] | None:
        """Return the columns of an attachment of this person, if these are its bytes, otherwise None.

        So pictures that this site has encoded lose nothing by another encoding, and documents need no
        reading. That another person has the bytes must not show: they are read as if nobody had them.
        """
        sha256 = uploads.sha256_of_file(file)
        known = Attachment.objects.filter(owner=self._user, file=sha256).order_by("created").first()
        if known is None or name != file_name(known):
            return None
        if side and not known.width == known.height == side:
            return None
        fields = {column: getattr(known, column) for column in FILE_COLUMNS}
        uploads.check_quota(self._user, self._pending + uploads.stored_bytes(fields))
        uploads.keep_file(sha256, file)
        return fields

    def _found_in(self, file: IO[bytes], name: str, side: int) -> EncodedPicture | Extracted:
        person = self._user.pk
        try:
            if side:
                return self._result(READERS.submit(person, decode, file, side))
            return self._result(READERS.submit(person, reading.read, file, name))
        except NeedsConversion as needed:
            return self._result(self._convert(person, file, needed))

    def _result(self, work: "Future[T]") -> T:
        """Wait for the work; cancel it when the beat raises."""
        try:
            while not wait([work], BEAT_SECONDS).done:
                self._beat()
            return work.result()
        finally:
            work.cancel()

    def _keep(self, file: IO[bytes], found: EncodedPicture | Extracted) -> dict[str, Any]:
        """Store what was read from `file`. Return the columns of its attachment. Raises QuotaExceeded."""
        if isinstance(found, EncodedPicture):
            fields, sha256 = uploads.picture_fields(found), uploads.sha256_of(found.content)
            uploads.check_quota(self._user, self._pending + uploads.stored_bytes(fields))
            uploads.keep_file(sha256, found.content)
        else:
            fields, sha256 = uploads.document_fields(file, found), uploads.sha256_of_file(file)
            uploads.check_quota(self._user, self._pending + uploads.stored_bytes(fields))
            uploads.keep_file(sha256, file)
            with short_transaction():
                uploads.keep_pages(sha256, found)
        return {"file_id": sha256, **fields}

    def _entry(self, name: str) -> zipfile.ZipInfo | None:
        """Return the archive's entry of this name, if its file can be imported."""
        if not settings.ATTACHMENTS:
            return None
        archive = self._opened()
        entry = archive.NameToInfo.get(name) or self._by_id.get(name) if archive else None
        if entry is None or entry.file_size > settings.ATTACHMENT_MAX_BYTES:
            return None
        return entry if entry.compress_type in ZIP_METHODS and not entry.flag_bits & ENCRYPTED else None

    def _opened(self) -> zipfile.ZipFile | None:
        if not self._is_open:
            self._is_open = True
            with suppress(FileProblem):
                self._archive = archive = open_archive(self._file)
                named = ((ID.match(each.filename), each) for each in (archive.infolist() if archive else ()))
                self._by_id = {found[1]: each for found, each in named if found}
        return self._archive

    @contextmanager
    def _copied(self, attachment: ImportedAttachment) -> Iterator[IO[bytes]]:
        """Copy what the child has told into a file of its own."""
        assert self._told
        with temporary_file() as file:
            self._told.seek(attachment.offset)
            with disk_errors():
                file.write(self._told.read(attachment.size))
                file.flush()
            yield file

    @contextmanager
    def _unpacked(self, entry: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
        """Unpack the entry into a file without a name. Raises BadZipFile beyond the size that it declares.

        Raises StorageUnavailable when the disk is full.
        """
        assert self._archive
        with temporary_file() as file, self._archive.open(entry) as member:
            while piece := member.read(ATTACHMENT_PIECE_BYTES):
                with disk_errors():
                    file.write(piece)
                    file.flush()
                if file.tell() > entry.file_size:
                    raise zipfile.BadZipFile("a file is larger than it says")
            yield file
