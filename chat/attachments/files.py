"""The stored files of attachments, in the storage `attachments`: on this machine or in a bucket."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage, storages
from django.utils.translation import gettext as _

from .problems import StorageUnavailable

PARTIAL = ".partial-"  # begins the name of a file that is being written
RETRY_SECONDS = 10

logger = logging.getLogger(__name__)


def storage() -> Storage:
    return storages["attachments"]


def name_of(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"


def read(sha256: str) -> bytes:
    """Return the bytes of a stored file. Blocks. Raises FileNotFoundError and StorageUnavailable."""
    with _available(), storage().open(name_of(sha256)) as file:
        content: bytes = file.read()
    return content


def write(sha256: str, content: bytes | IO[bytes]) -> None:
    """Store a file. Its row must be committed before, see `AttachmentFile`. Blocks.

    Raises StorageUnavailable.
    """
    file: File[bytes] = ContentFile(content) if isinstance(content, bytes) else File(content)
    with _available():
        storage().save(name_of(sha256), file)


def exists(sha256: str) -> bool:
    """Return True if the file is stored. Blocks. Raises StorageUnavailable."""
    with _available():
        return storage().exists(name_of(sha256))


def delete(sha256: str) -> None:
    """Delete a stored file, if it exists. Blocks. Raises StorageUnavailable."""
    with _available():
        storage().delete(name_of(sha256))


@contextmanager
def _available() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:  # each kind of storage has errors of its own
        logger.exception("the storage of attachments failed")
        words = _("Files can’t be stored or read right now. Try again in a moment.")
        raise StorageUnavailable(words, retry_after=RETRY_SECONDS) from error
