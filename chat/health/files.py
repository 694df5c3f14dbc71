"""The checks of files: those of attachments are stored, and the processes that read files are confined."""

import asyncio
import os

from django.conf import settings
from django.db import DatabaseError, connections
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.files import confinement, deletion, files
from chat.files.problems import StorageUnavailable
from chat.files.uploads import sha256_of

from . import BAD, GOOD, NOTE, Finding

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


async def check_confinement() -> Finding:
    name = _("Reading of files")
    try:
        lacking = await asyncio.to_thread(confinement.lacking)
    except (confinement.Expired, confinement.Crashed):
        advice = _("Look for its error in the log.")
        return Finding(name, BAD, _("The process that reads files can’t be started."), advice)
    if not lacking:
        return Finding(name, GOOD, _("The processes that read files are confined."))
    advice = _("Use Linux 5.13 or later, in no container or sandbox that hides Landlock or seccomp.")
    if settings.UNCONFINED_FILES == "warn":
        message = _("The processes that read files aren’t confined: this system lacks %(part)s.")
        return Finding(name, NOTE, message % {"part": lacking}, advice)
    message = _(
        "No files can be added or imported: this system can’t confine what reads them, lacking %(part)s."
    )
    return Finding(name, BAD, message % {"part": lacking}, advice)


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
