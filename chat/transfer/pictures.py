"""The pictures in an imported archive of this chat, each decoded as an upload is."""

import logging
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.conf import settings

from chat.attachments import decoding, names, uploads
from chat.attachments.problems import QuotaExceeded
from chat.attachments.receiving import folder
from chat.exceptions import RequestError
from chat.models import User

from .imported import ImportedConversation, ImportedPicture
from .sources import DAMAGED, ENCRYPTED, METHODS

MAX_PICTURES = 2_000  # files of one import
PIECE_BYTES = 1_048_576

logger = logging.getLogger(__name__)


class Pictures:
    """The pictures in the archive at `path`, for one person. None in a file that is no archive."""

    def __init__(self, user: User, path: Path) -> None:
        self._user, self._path = user, path
        self._archive: zipfile.ZipFile | None = None
        self._is_open = False
        self._stored: dict[str, dict[str, Any] | None] = {}  # by name: each file is decoded once

    def close(self) -> None:
        if self._archive:
            self._archive.close()

    def left_out(self, conversation: ImportedConversation) -> list[str]:
        """Return the names of the conversation's pictures that cannot be imported."""
        pictures = [picture for message in conversation.messages for picture in message.pictures]
        return [picture.name for picture in pictures if self._entry(picture.file) is None]

    def store(self, picture: ImportedPicture) -> None:
        """Store the file and set `picture.stored`; leave it None if it is missing, broken or too much."""
        if picture.file not in self._stored and len(self._stored) < MAX_PICTURES:
            self._stored[picture.file] = self._decoded(picture.file)
        if fields := self._stored.get(picture.file):
            picture.stored = fields | {"name": names.clean(picture.name, fields["media_type"])}

    def _decoded(self, name: str) -> dict[str, Any] | None:
        entry = self._entry(name)
        if entry is None:
            return None
        try:
            with self._unpacked(entry) as file:
                found = decoding.DECODING.submit(self._user.pk, decoding.decode, file).result()
            uploads.check_quota(self._user, len(found.content))
        except (RequestError, *DAMAGED) as error:
            level = logging.INFO if isinstance(error, QuotaExceeded) else logging.WARNING
            logger.log(level, "a picture was left out of an import: %s", error)
            return None
        sha256 = uploads.digest_of(found.content)
        uploads.keep_file(sha256, found.content)
        size = len(found.content)
        described = {"media_type": found.media_type, "width": found.width, "height": found.height}
        return {"file_id": sha256, "size": size, **described}

    def _entry(self, name: str) -> zipfile.ZipInfo | None:
        """Return the archive's entry of this name, if its file can be imported."""
        if not settings.ATTACHMENTS:
            return None
        archive = self._opened()
        entry = archive.NameToInfo.get(name) if archive else None
        if entry is None or entry.file_size > settings.ATTACHMENT_MAX_BYTES:
            return None
        return entry if entry.compress_type in METHODS and not entry.flag_bits & ENCRYPTED else None

    def _opened(self) -> zipfile.ZipFile | None:
        """Return the archive; its directory was checked when its conversations were read."""
        if not self._is_open:
            self._is_open = True
            if zipfile.is_zipfile(self._path):
                self._archive = zipfile.ZipFile(self._path)
        return self._archive

    @contextmanager
    def _unpacked(self, entry: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
        """Unpack the entry into a file without a name. Raises BadZipFile beyond the size that it declares."""
        assert self._archive
        with tempfile.TemporaryFile(dir=folder()) as file, self._archive.open(entry) as member:
            while piece := member.read(PIECE_BYTES):
                file.write(piece)
                if file.tell() > entry.file_size:
                    raise zipfile.BadZipFile("a file is larger than it says")
            yield file
