"""Export of a person's conversations and assistants as a zip file, which is built while it is downloaded."""

import io
import json
import logging
import re
import uuid
import zipfile
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime, tzinfo

from django.utils import timezone
from django.utils.translation import gettext as _

from chat.files import files
from chat.files.problems import StorageUnavailable
from chat.models import Attachment, Conversation, Preferences, User
from chat.models.conversation import ConversationQuerySet

from . import library
from .json_export import file_name, json_pieces
from .markdown_export import NameOf, markdown_pieces
from .records import written

ACCOUNT_FORMAT, ACCOUNT_FORMAT_VERSION = "chat.account", 1
ACCOUNT_FILE = "account.json"
ARCHIVE_PIECE_BYTES = 65_536
TITLE_CHARS = 40
FROM_MARKDOWN = "../"  # from the folder `markdown` to the archive's root
MISSING_FILES_LIST = "missing-files.txt"
MAX_OUTAGES = 3  # files in a row that the storage does not give; each may take half a minute
PRIVATE = 0o600 << 16  # the file's permissions, as zip stores them
FIRST_ZIP_YEAR = 1980  # the earliest that a zip file's times can express

logger = logging.getLogger(__name__)


class _Pipe(io.RawIOBase):
    """A write-only file. `take` removes what was written, so that the archive is never held in memory."""

    def __init__(self) -> None:
        self._written = bytearray()

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self._written += piece
        return len(piece)

    def __len__(self) -> int:
        return len(self._written)

    def take(self) -> bytes:
        taken, self._written = bytes(self._written), bytearray()
        return taken


def archive_pieces(
    user: User, zone: tzinfo, name_of: NameOf, only: Collection[uuid.UUID] | None = None
) -> "Iterator[bytes | Future[bytes]]":
    """Yield the file in pieces, reading from the database only what the next piece needs.

    Also yield a future for each attachment, whose file is read outside the threads of the database. It must
    be done when the next piece is asked for.

    `only`: ids of the conversations to export; None for all of the user's, and the library.
    """
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        files = ArchivedFiles(archive, user)
        archive.writestr(entry(ACCOUNT_FILE, timezone.now()), _account(user))
        if only is None:
            for name, text in (
                (library.PROMPTS_FILE, library.prompts_json(user)),
                (library.MEMORIES_FILE, library.memories_json(user)),
            ):
                if text:
                    archive.writestr(entry(name, timezone.now()), text)
        # Before the conversations, which an import connects with them.
        for assistant in library.assistant_objects(user) if only is None else ():
            text = json.dumps(assistant, ensure_ascii=False, indent=1) + "\n"
            name = f"{library.ASSISTANTS_FOLDER}{assistant['id']}.json"
            archive.writestr(entry(name, timezone.now()), text)
            yield pipe.take()
            yield from _packed(pipe, files.pack(library.attachments_of(assistant)))
        wanted = exported(user) if only is None else exported(user).filter(pk__in=only)
        for key in list(wanted.order_by("-updated", "-pk").values_list("pk", flat=True)):
            conversation = exported(user).prefetch_related("tags").filter(pk=key).first()
            if conversation is None:  # deleted meanwhile
                continue
            for name, texts in (
                (f"conversations/{key}.json", json_pieces(conversation)),
                (_readable_name(conversation), markdown_pieces(conversation, zone, name_of, FROM_MARKDOWN)),
            ):
                with archive.open(entry(name, conversation.updated), "w") as file:
                    for text in texts:
                        file.write(text.encode())
                        if len(pipe) >= ARCHIVE_PIECE_BYTES:
                            yield pipe.take()
            sent = Attachment.objects.filter(message__conversation=conversation, message__deleted=None)
            yield from _packed(pipe, files.pack(list(sent)))
        files.finish()
    yield pipe.take()


def _packed(pipe: _Pipe, readings: "Iterator[Future[bytes]]") -> "Iterator[bytes | Future[bytes]]":
    """Yield each future, and what the file has added to the archive."""
    for reading in readings:
        yield reading
        yield pipe.take()


def exported(user: User) -> ConversationQuerySet:
    """Return the user's conversations that may be exported: those neither deleted nor temporary."""
    return Conversation.objects.owned_by(user).filter(temporary=False)


def _account(user: User) -> str:
    row = Preferences.objects.filter(pk=user.pk).first()
    about = {
        "format": ACCOUNT_FORMAT,
        "version": ACCOUNT_FORMAT_VERSION,
        "exported": written(timezone.now()),
        "username": user.get_username(),
        "instructions": row.instructions if row else "",
    }
    return json.dumps(about, ensure_ascii=False, indent=1) + "\n"


def _readable_name(conversation: Conversation) -> str:
    day = f"{conversation.created.astimezone(UTC):%Y-%m-%d}"
    return f"markdown/{day} {file_stem(conversation.title)[:TITLE_CHARS]} {conversation.pk.hex[:8]}.md"


def file_stem(title: str) -> str:
    """Return the title as a part of a file's name: letters, digits, spaces and hyphens."""
    return " ".join(re.sub(r"[^\w-]+", " ", title).split())


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
    utc = moment.astimezone(UTC)
    info = zipfile.ZipInfo(name, (max(utc.year, FIRST_ZIP_YEAR), *utc.timetuple()[1:6]))
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, PRIVATE
    return info
