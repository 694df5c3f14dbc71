"""The JSON format of an exported conversation, which README.md and conversation.schema.json describe.

Fields that are added later are optional, so that older files stay valid. An incompatible change increases the
version.
"""

from datetime import UTC, datetime
from typing import Any

from chat.models import Attachment, Conversation, Feedback, Message, Run
from chat.models.attachment import EXTENSIONS

Object = dict[str, Any]
FORMAT, VERSION = "chat.conversation", 1
RUN_TEXTS = ("model", "answered_by", "served_by", "status", "finish_reason", "error_code", "error_message")
RUN_TIMES = ("created", "started", "first_token", "finished")
PICTURES = "attachments/"  # the folder in an archive
USAGE = ("prompt_tokens", "completion_tokens", "cached_tokens", "neurons")


def conversation_object(conversation: Conversation, leaf: str | None) -> Object:
    """Return a conversation without its messages. `leaf`: the id of the last message that is shown."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": str(conversation.pk),
        "title": conversation.title,
        "model": conversation.model,
        "system": conversation.system,
        "parameters": conversation.parameters,
        "created": written(conversation.created),
        "updated": written(conversation.updated),
        "pinned_at": written(conversation.pinned_at),
        "archived_at": written(conversation.archived_at),
        "tags": sorted(tag.name for tag in conversation.tags.all()),
        "active_leaf": leaf,
    }


def message_object(
    message: Message,
    text: str,
    reasoning: str,
    feedback: Feedback | None,
    runs: list[Object],
    attachments: list[Attachment],
) -> Object:
    """Return a message. `text` and `reasoning` include what a live run has written so far.

    A message without pictures has no field `attachments`.
    """
    found = {
        "id": str(message.pk),
        "parent": str(message.parent_id) if message.parent_id else None,
        "role": message.role,
        "text": text,
        "reasoning": reasoning,
        "model": message.model,
        "created": written(message.created),
        "selected_at": written(message.selected_at),
        "feedback": None
        if feedback is None
        else {"thumb": "up" if feedback.up else "down", "reason": feedback.reason},
        "runs": runs,
    }
    if attachments:
        found["attachments"] = [attachment_object(each) for each in attachments]
    return found


def attachment_object(attachment: Attachment) -> Object:
    """Return a picture without its bytes. `file` is its name in an archive."""
    return {
        "id": str(attachment.pk),
        "file": file_name(attachment.sha256, attachment.media_type),
        "name": attachment.name,
        "alt": attachment.alt,
        "media_type": attachment.media_type,
        "width": attachment.width,
        "height": attachment.height,
        "size": attachment.size,
    }


def file_name(sha256: str, media_type: str) -> str:
    return f"{PICTURES}{sha256}.{EXTENSIONS[media_type]}"


def sha256_in(name: str) -> str:
    """Return the hash in what `file_name` returned."""
    return name.removeprefix(PICTURES).partition(".")[0]


def run_object(run: Run) -> Object:
    """Return one attempt at a reply. `usage` is null if the model's server did not report it."""
    found: Object = {name: getattr(run, name) for name in RUN_TEXTS}
    found |= {"parameters": run.parameters, "max_tokens": run.max_tokens}
    found |= {name: written(getattr(run, name)) for name in RUN_TIMES}
    reported = run.completion_tokens is not None
    return found | {"usage": {name: getattr(run, name) for name in USAGE} if reported else None}


def written(moment: datetime | None) -> str | None:
    """Return the time in UTC, as ISO 8601 with microseconds, so that no digit is lost."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds") if moment else None
