"""The stored columns of a conversation."""

import json
from typing import Any

from tests.support.databases import Database

OTHER_MODEL = "@cf/openai/gpt-oss-20b"  # not the default model


def column(database: Database, name: str, conversation: str) -> Any:
    plain = conversation.replace("-", "")
    where = f"WHERE REPLACE(LOWER(CAST(id AS VARCHAR(36))), '-', '') = '{plain}'"
    return database.value(f"SELECT {name} FROM chat_conversation {where}")


def others(database: Database, conversation: str, *but: str) -> list[Any]:
    """Return the columns that a request should have left alone: all except `but`."""
    names = {"title", "model", "system", "active_leaf_id", "updated", "last_seen", "deleted"} - set(but)
    return [column(database, name, conversation) for name in sorted(names)]


def kept(database: Database, conversation: str) -> dict[str, Any]:
    """Return the stored parameters."""
    value = column(database, "parameters", conversation)
    return json.loads(value) if isinstance(value, str) else value
