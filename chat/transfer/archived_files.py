"""The files of attachments in an archive that is exported, each packed once."""

import logging
import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from chat.files import files
from chat.files.problems import StorageUnavailable
from chat.models import Attachment, User

from .document import file_name

MISSING_FILES_LIST = "missing-files.txt"
MAX_OUTAGES = 3  # files in a row that the storage does not give; each may take half a minute
PRIVATE = 0o600 << 16  # the file's permissions, as zip stores them
FIRST_ZIP_YEAR = 1980  # the earliest that a zip file's times can express

logger = logging.getLogger(__name__)


class ArchivedFiles:
    """Packs the files of attachments into `archive`, and lists those that cannot be read."""

    def __init__(self, archive: zipfile.ZipFile, user: User) -> None:
        self._archive, self._user = archive, user
        self._packed: set[str] = set()
        self._missing: list[str] = []
        self._outages = 0  # in a row

    def pack(self, attachments: Iterable[Attachment]) -> "Iterator[Future[bytes]]":
        """Yield a future for each new file, which is packed afterwards. Raises StorageUnavailable."""
        for attachment in attachments:
            if file_name(attachment) not in self._packed:
                self._packed.add(file_name(attachment))
                reading = files.STORAGE_POOL.submit(self._user.pk, files.read, attachment.sha256)
                yield reading
                self._add(attachment, reading)

    def finish(self) -> None:
        """Add the list of the files that are missing, if there are any."""
        if self._missing:
            about = _("These files could not be read, so they are not in this archive:")
            self._archive.writestr(
                entry(MISSING_FILES_LIST, timezone.now()), "\n".join([about, *self._missing, ""])
            )

    def _add(self, attachment: Attachment, reading: "Future[bytes]") -> None:
        """Pack a file that was read; pictures are not compressed again.

        Raises StorageUnavailable after MAX_OUTAGES: the download breaks off, rather than to lack many files.
        """
        try:
            content = reading.result()
        except (FileNotFoundError, StorageUnavailable) as error:
            self._outages = self._outages + 1 if isinstance(error, StorageUnavailable) else 0
            if self._outages >= MAX_OUTAGES:
                raise
            logger.warning("the file of attachment %s cannot be read", attachment.pk)
            self._missing.append(f"{file_name(attachment)}: {attachment.name}")
            return
        self._outages = 0
        info = entry(file_name(attachment), attachment.created)
        if attachment.is_picture:
            info.compress_type = zipfile.ZIP_STORED
        self._archive.writestr(info, content)


def entry(name: str, moment: datetime) -> zipfile.ZipInfo:
    """Return the description of a file in an archive."""
    utc = moment.astimezone(UTC)
    info = zipfile.ZipInfo(name, (max(utc.year, FIRST_ZIP_YEAR), *utc.timetuple()[1:6]))
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, PRIVATE
    return info
