"""Exports of a conversation, whole."""

import json
import uuid
from collections.abc import Collection
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync

from chat.accounts.timezones import UTC
from chat.models import Conversation, User
from chat.transfer import json_export
from chat.transfer.archive import archive_pieces
from chat.transfer.html_export import html_pieces
from chat.transfer.json_export import json_pieces
from chat.transfer.markdown_export import markdown_pieces

FILE = Path(json_export.__file__).parent / "conversation.schema.json"
CLOSED = {"additionalProperties": False}  # an export has no field that its schema does not describe
SCHEMA = json.loads(FILE.read_text("utf-8"), object_hook=lambda o: o | CLOSED if "properties" in o else o)


def as_json(conversation: Conversation) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(json_pieces(conversation)))
    return found


def as_markdown(conversation: Conversation) -> str:
    return "".join(markdown_pieces(conversation, UTC, str))


def as_html(conversation: Conversation) -> str:
    async def whole() -> str:
        return "".join([piece async for piece in html_pieces(conversation, UTC, str)])

    return async_to_sync(whole)()


def archived(user: User, only: Collection[uuid.UUID] | None = None) -> bytes:
    """The archive of all conversations, or of these; what it waits for, it waits for here."""
    whole = b""
    for piece in archive_pieces(user, UTC, str, only):
        if isinstance(piece, Future):
            piece.exception()
        else:
            whole += piece
    return whole
