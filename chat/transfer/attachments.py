"""The pictures and documents of imported conversations, each read as an upload is.

They are in the archive, or in the messages of another chat's file, whose contents the child tells.
"""

import io
import logging
import time
import zipfile
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import IO, Any, ParamSpec, TypeVar

from django.conf import settings
from django.utils import timezone

from chat.db.executor import short_transaction
from chat.exceptions import RequestError
from chat.files import reading, uploads
from chat.files.confinement import BEAT_SECONDS, ChildLimits, Expired, run_confined
from chat.files.decoding import EncodedPicture, decode
from chat.files.extraction import Extracted, NeedsConversion
from chat.files.problems import ConversionUnavailable, QuotaExceeded, StorageUnavailable
from chat.files.reading import READERS
from chat.files.receiving import disk_errors, temporary_file
from chat.models import Attachment, AttachmentFile, User

from .json_export import file_name
from .records import ImportedAttachment

MAX_FILES = 2_000  # files of one import
READING_SECONDS = 1_200.0  # for all files of one import together
UNPACKER = "chat.transfer.unpacking"
UNPACKER_BYTES, UNPACKER_SECONDS = 268_435_456, 10  # memory beside the file, packed and unpacked; CPU time

FILE_COLUMNS = (
    *("file_id", "media_type", "width", "height", "size"),
    *("pages", "pages_without_text", "tokens", "reading"),
)
# Called with the person, the file, and what was raised for it: see `extraction.convert`.
ConvertDocument = Callable[[int, IO[bytes], NeedsConversion], "Future[Extracted]"]
P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)


class OutOfTime(Exception):
    """The files of this import have taken READING_SECONDS. Only those that need no reading are stored."""


class Attachments:
    """The pictures and documents of the imported file at `path`, for one person.

    `beat` is called every second while one is read.
    """

    def __init__(self, user: User, path: Path, beat: Callable[[], object], convert: ConvertDocument) -> None:
        self._user, self._beat, self._convert = user, beat, convert
        self._file = path.open("rb")  # its position is not the one of the child
        self._told: IO[bytes] | None = None  # contents that the child has told, of one conversation
        # What was read, for the next turn: the time, and of each file its columns, so that it is read once.
        self.read: dict[str, Any] = {"seconds": 0.0, "files": {}}
        self._pending = 0  # bytes of the attachments that have no rows yet, which the quota does not count

    def close(self) -> None:
        self.forget()
        self._file.close()

    def resume(self, read: dict[str, Any]) -> None:
        """Go on after an earlier turn, in which this was `read`, without the files deleted since."""
        self.read |= read
        found: dict[str, dict[str, Any] | None] = self.read["files"]
        kept = AttachmentFile.objects.filter(pk__in={each["file_id"] for each in found.values() if each})
        with short_transaction():
            kept.update(uploaded=timezone.now())
            here = {None, *kept.values_list("pk", flat=True)}
        self.read["files"] = {key: each for key, each in found.items() if (each and each["file_id"]) in here}

    def left_out(self, attachments: Iterable[ImportedAttachment]) -> list[str]:
        return [each.name for each in attachments if not self._is_here(each)]

    def _is_here(self, attachment: ImportedAttachment) -> bool:
        return settings.ATTACHMENTS and 0 < attachment.size <= settings.ATTACHMENT_MAX_BYTES

    def keep(self, content: bytes) -> int:
        """Keep the content of an attachment of the next conversation; return its `offset`."""
        self._told = self._told or temporary_file()
        with disk_errors():
            offset = self._told.seek(0, io.SEEK_END)
            self._told.write(content)
            return offset

    def forget(self) -> None:
        """Forget one conversation's contents (keys with a space first); its attachments have their rows."""
        if self._told:
            self._told.close()
        self._told, self._pending = None, 0
        self.read["files"] = {key: each for key, each in self.read["files"].items() if key[0] != " "}

    def store(self, attachment: ImportedAttachment) -> bool:
        """Store the file and set `attachment.stored`; leave it None if it is missing, broken or too much.

        Return False if it was dealt with before. Raises OutOfTime; StorageUnavailable and
        ConversionUnavailable, if the file can be stored later.
        """
        if not self._is_here(attachment):
            return False
        found, packed = self.read["files"], attachment.packed
        key = f"{attachment.file} {attachment.side} {attachment.offset} {attachment.size}"
        if is_new := key not in found and len(found) < MAX_FILES:
            found[key] = self._read(packed.name if packed else attachment.name, attachment)
        if fields := found.get(key):
            attachment.stored = fields | {"name": uploads.clean(attachment.name, fields["media_type"])}
            self._pending += uploads.stored_bytes(fields)
        return is_new

    def _read(self, name: str, attachment: ImportedAttachment) -> dict[str, Any] | None:
        side = attachment.side
        try:
            content = self._content(attachment)
            with temporary_file() as file:
                with disk_errors():
                    file.write(content)
                    file.flush()
                known = self._keep_known(file, name, side)
                return known or self._keep(file, self._found_in(file, name, side))
        except (RequestError, Expired, zipfile.BadZipFile) as error:
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
        return self._keep_file(sha256, file, {column: getattr(known, column) for column in FILE_COLUMNS})

    def _found_in(self, file: IO[bytes], name: str, side: int) -> EncodedPicture | Extracted:
        person = self._user.pk
        if self.read["seconds"] >= READING_SECONDS:
            raise OutOfTime
        try:
            if side:
                return self._result(READERS.submit(person, self._timed, decode, file, side))
            return self._result(READERS.submit(person, self._timed, reading.read, file, name))
        except NeedsConversion as needed:
            return self._timed(self._result, self._convert(person, file, needed))

    def _timed(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function, and count its time, but not that in which the readers worked for others."""
        began = time.monotonic()
        try:
            return function(*args, **kwargs)
        finally:
            self.read["seconds"] += time.monotonic() - began

    def _result(self, work: "Future[T]") -> T:
        """Wait for the work; cancel it when the beat raises."""
        try:
            while not wait([work], BEAT_SECONDS).done:
                self._beat()
            return work.result()
        finally:
            work.cancel()

    def _keep(self, file: IO[bytes], found: EncodedPicture | Extracted) -> dict[str, Any]:
        """Store what was read from `file`, as `_keep_file` does. Return the columns of its attachment."""
        if isinstance(found, EncodedPicture):
            sha256 = uploads.sha256_of(found.content)
            return self._keep_file(sha256, found.content, uploads.picture_fields(found))
        sha256 = uploads.sha256_of_file(file)
        fields = self._keep_file(sha256, file, uploads.document_fields(file, found))
        with short_transaction():
            uploads.keep_pages(sha256, found)
        return fields

    def _keep_file(self, sha256: str, content: bytes | IO[bytes], fields: dict[str, Any]) -> dict[str, Any]:
        """Store the file within the quota. Raises QuotaExceeded and StorageUnavailable."""
        uploads.check_quota(self._user, self._pending + uploads.stored_bytes(fields))
        uploads.keep_file(sha256, content)
        return {"file_id": sha256, **fields}

    def _content(self, attachment: ImportedAttachment) -> bytes:
        """Return what the child has told, or unpack an archive's file in another child.

        Raises BadZipFile and Expired.
        """
        packed, size = attachment.packed, attachment.size
        if packed is None:
            assert self._told
            self._told.seek(attachment.offset)
            return self._told.read(size)
        memory = UNPACKER_BYTES + 3 * size
        limits = ChildLimits(memory, UNPACKER_SECONDS, 2 * UNPACKER_SECONDS, output_bytes=size)
        numbers = packed.offset, min(packed.packed_bytes, 2 * size + 64), size, packed.method, packed.crc
        content = run_confined(UNPACKER, self._file, limits, *map(str, numbers))
        if len(content) != size:
            raise zipfile.BadZipFile("a file is damaged, or has another size than it says")
        return content
