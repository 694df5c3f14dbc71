"""Exports of a conversation, whole."""

import json
from typing import Any

from chat.models import Conversation
from chat.timezones import UTC
from chat.transfer.json_export import json_pieces
from chat.transfer.markdown_export import markdown_pieces


def as_json(conversation: Conversation) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(json_pieces(conversation)))
    return found


def as_markdown(conversation: Conversation) -> str:
    return "".join(markdown_pieces(conversation, UTC, str))
