"""The pictures and documents in an imported archive of this chat, each read as an upload is."""

import logging
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from django.conf import settings

from chat.attachments import names, reading, uploads
from chat.attachments.decoding import EncodedPicture, decode
from chat.attachments.extraction import Extracted, NeedsConversion
from chat.attachments.problems import ConversionUnavailable, QuotaExceeded, StorageUnavailable
from chat.attachments.readers import READERS
from chat.attachments.receiving import disk_errors, temporary_file
from chat.db import short_transaction
from chat.exceptions import RequestError
from chat.models import Attachment, User

from .document import file_name
from .imported import ImportedAttachment
from .sources import ENCRYPTED, UNZIP_ERRORS, ZIP_METHODS

MAX_FILES = 2_000  # files of one import
ATTACHMENT_PIECE_BYTES = 1_048_576

FILE_COLUMNS = ("file_id", "media_type", "width", "height", "size", "pages", "tokens")
# Called with the person, the file, and what was raised for it: see chat/attachments/conversion.py. Blocks.
ConvertDocument = Callable[[int, IO[bytes], NeedsConversion], Extracted]

logger = logging.getLogger(__name__)


def refuse_conversion(person: int, file: IO[bytes], needed: NeedsConversion) -> NoReturn:
    """Stand for the conversion of documents where no server runs."""
    raise needed


class Attachments:
    """The pictures and documents in the archive at `path`, for one person. Another file has none."""

    def __init__(self, user: User, path: Path, convert: ConvertDocument = refuse_conversion) -> None:
        self._user, self._path, self._convert = user, path, convert
        self._archive: zipfile.ZipFile | None = None
        self._is_open = False
        # By name, and the side of the square: each file is read once.
        self._stored: dict[tuple[str, int], dict[str, Any] | None] = {}
        self._pending = 0  # bytes of the attachments that have no rows yet, which the quota does not count

    def close(self) -> None:
        if self._archive:
            self._archive.close()

    def left_out(self, attachments: Iterable[ImportedAttachment]) -> list[str]:
        """Return the names of those that cannot be imported."""
        return [each.name for each in attachments if self._entry(each.file) is None]

    def begin(self) -> None:
        """Begin with another conversation; the attachments of the one before have their rows."""
        self._pending = 0

    def store(self, attachment: ImportedAttachment) -> None:
        """Store the file and set `attachment.stored`; leave it None if it is missing, broken or too much.

        Raises StorageUnavailable and ConversionUnavailable, if the file can be stored later.
        """
        wanted = attachment.file, attachment.side
        if wanted not in self._stored and len(self._stored) < MAX_FILES:
            self._stored[wanted] = self._read(*wanted)
        if fields := self._stored.get(wanted):
            attachment.stored = fields | {"name": names.clean(attachment.name, fields["media_type"])}
            self._pending += uploads.stored_bytes(fields)

    def _read(self, name: str, side: int) -> dict[str, Any] | None:
        entry = self._entry(name)
        if entry is None:
            return None
        try:
            with self._unpacked(entry) as file:
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
        try:
            if side:
                return READERS.submit(self._user.pk, decode, file, side).result()
            return READERS.submit(self._user.pk, reading.read, file, name).result()
        except NeedsConversion as needed:
            return self._convert(self._user.pk, file, needed)

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
        entry = archive.NameToInfo.get(name) if archive else None
        if entry is None or entry.file_size > settings.ATTACHMENT_MAX_BYTES:
            return None
        return entry if entry.compress_type in ZIP_METHODS and not entry.flag_bits & ENCRYPTED else None

    def _opened(self) -> zipfile.ZipFile | None:
        """Return the archive; its directory was checked when its conversations were read."""
        if not self._is_open:
            self._is_open = True
            if zipfile.is_zipfile(self._path):
                self._archive = zipfile.ZipFile(self._path)
        return self._archive

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
