"""The check of the stored files of attachments: they can be written and read, and none is missing."""

import asyncio
import os

from django.conf import settings
from django.db import DatabaseError, connections
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.attachments import deletion, files
from chat.attachments.problems import StorageUnavailable
from chat.attachments.uploads import sha256_of

from .findings import BAD, GOOD, Finding

PROBE_BYTES = 16


async def check_files() -> Finding:
    """Write, read and delete a small file, then look for the file of each attachment."""
    name = _("Files")
    try:
        await asyncio.to_thread(_probe)
        missing = await asyncio.to_thread(_missing)
    except (StorageUnavailable, FileNotFoundError):
        advice = (
            _("Check the settings that begin with ATTACHMENTS_S3.")
            if settings.ATTACHMENTS_S3_BUCKET
            else _("Check for a full disk and missing write permissions.")
        )
        return Finding(name, BAD, _("Pictures and documents can’t be stored or read."), advice)
    except DatabaseError:
        return Finding(name, BAD, _("The database isn’t responding."))
    if missing:
        words = ngettext(
            "The file of %(n)s picture or document is missing: %(first)s",
            "The files of %(n)s pictures and documents are missing, such as %(first)s",
            len(missing),
        )
        advice = _("Copy them back from a backup, into the folder “attachments”.")
        return Finding(name, BAD, words % {"n": len(missing), "first": missing[0]}, advice)
    return Finding(name, GOOD, _("Pictures and documents can be stored, and none is missing."))


def _probe() -> None:
    content = os.urandom(PROBE_BYTES)
    sha256 = sha256_of(content)
    files.write(sha256, content)
    files.read(sha256)
    files.delete(files.name_of(sha256))


def _missing() -> list[str]:
    try:
        return deletion.missing()
    finally:
        connections.close_all()  # those of this thread
