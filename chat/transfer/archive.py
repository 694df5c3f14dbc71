"""Export of a person's conversations and assistants as a zip file, which is built while it is downloaded."""

import io
import json
import re
import uuid
import zipfile
from collections.abc import Collection, Iterator
from concurrent.futures import Future
from datetime import UTC, tzinfo

from django.utils import timezone

from chat.models import Attachment, Conversation, Preferences, User
from chat.models.conversation import ConversationQuerySet

from .archived_files import ArchivedFiles, entry
from .assistants import ASSISTANTS_FOLDER, assistant_objects, attachments_of
from .json_export import json_pieces
from .markdown_export import NameOf, markdown_pieces
from .prompts import PROMPTS_FILE, prompts_json
from .records import written

ACCOUNT_FORMAT, ACCOUNT_FORMAT_VERSION = "chat.account", 1
ACCOUNT_FILE = "account.json"
ARCHIVE_PIECE_BYTES = 65_536
TITLE_CHARS = 40
FROM_MARKDOWN = "../"  # from the folder `markdown` to the archive's root


class _Pipe(io.RawIOBase):
    """A write-only file. `take` removes what was written, so that the archive is never held in memory."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        return True

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

    `only`: ids of the conversations to export; None for all of the user's, and the assistants.
    """
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        files = ArchivedFiles(archive, user)
        archive.writestr(entry(ACCOUNT_FILE, timezone.now()), _account(user))
        if only is None and (own_prompts := prompts_json(user)):
            archive.writestr(entry(PROMPTS_FILE, timezone.now()), own_prompts)
        # Before the conversations, which an import connects with them.
        for assistant in assistant_objects(user) if only is None else ():
            text = json.dumps(assistant, ensure_ascii=False, indent=1) + "\n"
            archive.writestr(entry(f"{ASSISTANTS_FOLDER}{assistant['id']}.json", timezone.now()), text)
            yield pipe.take()
            yield from _packed(pipe, files.pack(attachments_of(assistant)))
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
