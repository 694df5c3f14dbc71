"""Names in this chat's own files, which the exports write and an import reads. docs/api.md describes them."""

import re
from datetime import UTC, datetime
from typing import Any

Object = dict[str, Any]
CONVERSATION_FORMAT, CONVERSATION_FORMAT_VERSION = "chat.conversation", 1
ASSISTANT_FORMAT, ASSISTANT_FORMAT_VERSION = "chat.assistant", 1
PROMPT_FORMAT, PROMPT_FORMAT_VERSION = "chat.prompt", 1
ATTACHMENTS_FOLDER = "attachments/"  # the folder in an archive
ATTACHMENT_FILE = re.compile(rf"{ATTACHMENTS_FOLDER}[0-9a-f]{{64}}\.[a-z0-9]{{1,8}}")
MAX_VERSIONS = 100  # of one assistant: the current one, and the newest of those that conversations use
RUN_TEXTS = ("model", "answered_by", "served_by", "status", "finish_reason", "error_code", "error_message")
RUN_TIMES = ("created", "started", "first_token", "finished")
USAGE_FIELDS = ("prompt_tokens", "completion_tokens", "cached_tokens", "neurons")


def written(moment: datetime | None) -> str | None:
    """Return the time in UTC, as ISO 8601 with microseconds, so that no digit is lost."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds") if moment else None
