"""Readers for values in other chats' files. A value of an unexpected type counts as missing."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from chat.limits import MAX_MODEL_CHARS
from chat.transfer.imported import ASSISTANT, TEXTLESS_QUESTION, USER, ImportedMessage
from chat.wire.text import sanitize

MILLISECONDS = 1e11  # a larger number of seconds would be after the year 5000
ROLE_OF_AUTHOR = {
    "user": USER,
    "human": USER,
    "assistant": ASSISTANT,
}
NOT_IN_LANGUAGE = re.compile(r"[^\w+#.-]")  # characters that no name of a programming language has
BACKTICKS = re.compile("`{3,}")
UNNAMED_ATTACHMENT = "?"  # shown for an attachment without a name


def text(value: Any) -> str:
    """Return a string that can be stored: lone surrogates are replaced and NUL is removed."""
    return sanitize(value) if isinstance(value, str) else ""


def model(value: Any) -> str:
    return text(value)[:MAX_MODEL_CHARS]


def record(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def records(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def moment(value: Any) -> datetime | None:
    """Return the time written as seconds or milliseconds since 1970 or as ISO 8601; None if it is invalid."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1_000 if value > MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def names(values: Iterable[dict[str, Any]], *fields: str) -> list[str]:
    """Return each attachment's name: the first of these fields that is not empty, or UNNAMED_ATTACHMENT."""
    return [
        next((found for field in fields if (found := text(each.get(field)))), UNNAMED_ATTACHMENT)
        for each in values
    ]


def code_block(language: str, code: str) -> str:
    """Return a Markdown code block. Its fence is longer than any row of backticks in the code."""
    longest = max((len(run) for run in BACKTICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{NOT_IN_LANGUAGE.sub('', language)}\n{code}\n{fence}"


def message(
    key: str, role: Any, content: str, *, has_files: bool = False, **more: Any
) -> ImportedMessage | None:
    """Return a message; None if its role is not imported, or it has neither text nor files."""
    known = ROLE_OF_AUTHOR.get(role) if isinstance(role, str) else None
    if known is None or not (content.strip() or has_files):
        return None
    if not content.strip() and known == USER:
        content = TEXTLESS_QUESTION
    return ImportedMessage(key, None, known, content, **more)
