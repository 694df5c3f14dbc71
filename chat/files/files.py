"""The stored files of attachments, in the storage `attachments`: on this machine or in a bucket.

A request reads and writes them in `STORAGE_POOL`, because a bucket can be slow, and no page must wait for it.
"""

import hashlib
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.utils.translation import gettext as _

from chat.db.fair_executor import FairExecutor

from .problems import StorageUnavailable

SHA256 = re.compile("[0-9a-f]{64}")
PARTIAL = ".partial-"  # begins the name of a file that is being written
STORAGE_RETRY_SECONDS = 10
STORAGE_POOL = FairExecutor("storage")

logger = logging.getLogger(__name__)


def storage() -> Storage:
    return storages["attachments"]


def name_of(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"


def read(sha256: str) -> bytes:
    """Return the bytes of a stored file. Blocks. Raises StorageUnavailable, and FileNotFoundError.

    A damaged file counts as missing: a model would refuse it, and with it each later turn of a conversation.
    """
    with opened(sha256) as file, _available():
        content: bytes = file.read()
        return content


def opened(sha256: str) -> "File[bytes]":
    """Return a stored file, opened at its start; the caller closes it. Blocks. Raises as `read`.

    It is read twice, to be checked first, and is never whole in memory.
    """
    with _available():
        file: File[bytes] = storage().open(name_of(sha256))
        digest = hashlib.sha256()
        for piece in file.chunks():
            digest.update(piece)
        file.seek(0)
    if digest.hexdigest() != sha256:
        file.close()
        logger.error("the stored file %s is damaged", sha256)
        raise FileNotFoundError(sha256)
    return file


def write(sha256: str, content: bytes | IO[bytes]) -> None:
    """Store a file. Its row must be committed before, see `AttachmentFile`. Blocks.

    Raises StorageUnavailable.
    """
    file: File[bytes] = ContentFile(content) if isinstance(content, bytes) else File(content)
    try:
        with _available():
            storage().save(name_of(sha256), file)
    except FileNotFoundError as error:  # a folder that is missing
        raise unavailable() from error


def exists(sha256: str) -> bool:
    """Return True if the file is stored. Blocks. Raises StorageUnavailable."""
    with _available():
        return storage().exists(name_of(sha256))


def delete(name: str) -> None:
    """Delete the file of this name in the storage, if it exists. Blocks. Raises StorageUnavailable."""
    with _available():
        storage().delete(name)


def names_in(folder: str) -> set[str]:
    """Return the names of the files in a folder of the storage. Blocks. Raises StorageUnavailable."""
    with _available():
        found = storage()
        if isinstance(found, FileSystemStorage) and not Path(found.path(folder)).is_dir():
            return set()
        return set(found.listdir(folder)[1])


def modified(name: str) -> datetime:
    """Return the time at which a file was stored. Blocks. Raises FileNotFoundError and StorageUnavailable."""
    with _available():
        return storage().get_modified_time(name)


@contextmanager
def _available() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except (IsADirectoryError, NotADirectoryError) as error:  # a damaged DATA_DIR
        logger.error("the stored file %s is damaged", error.filename)
        raise FileNotFoundError(error.filename) from error
    except Exception as error:  # each kind of storage has errors of its own
        logger.exception("the storage of attachments failed")
        raise unavailable() from error


def unavailable() -> StorageUnavailable:
    words = _("Files can’t be stored or read right now. Try again in a moment.")
    return StorageUnavailable(words, retry_after=STORAGE_RETRY_SECONDS)
