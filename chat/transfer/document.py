"""The JSON format of an exported conversation, which docs/api.md and conversation.schema.json describe.

Fields that are added later are optional, so that older files stay valid. An incompatible change increases the
version.
"""

from chat.files.uploads import MAX_EXTENSION_CHARS
from chat.models import Attachment, Citation, Conversation, Feedback, Message, Run
from chat.models.attachment import EXTENSIONS
from chat.models.citation import CitedSource, by_source

from .records import (
    ATTACHMENTS_FOLDER,
    CONVERSATION_FORMAT,
    CONVERSATION_FORMAT_VERSION,
    RUN_TEXTS,
    RUN_TIMES,
    USAGE_FIELDS,
    Object,
    written,
)

UNKNOWN_EXTENSION = "bin"
EXPORTED_CITATION_FIELDS = ("title", "url", "page", "text")


def conversation_object(conversation: Conversation, leaf: str | None) -> Object:
    """Return a conversation without its messages. `leaf`: the id of the last message that is shown."""
    return {
        "format": CONVERSATION_FORMAT,
        "version": CONVERSATION_FORMAT_VERSION,
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
    citations: list[Citation],
) -> Object:
    """Return a message. `text` and `reasoning` include what a live run has written so far.

    A message without pictures and documents has no field `attachments`, one without citations no field
    `citations`.
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
    if citations:
        found["citations"] = [citation_object(each) for each in citations]
    return found


def attachment_object(attachment: Attachment) -> Object:
    """Return a picture or document without its bytes. `file` is its name in an archive."""
    found: Object = {
        "id": str(attachment.pk),
        "file": file_name(attachment),
        "name": attachment.name,
        "alt": attachment.alt,
        "media_type": attachment.media_type,
        "width": attachment.width,
        "height": attachment.height,
        "size": attachment.size,
    }
    return found if attachment.is_picture else found | {"pages": attachment.pages}


def is_picture(attachment: Object) -> bool:
    """Return True if what `attachment_object` returned is a picture."""
    return attachment["media_type"] in EXTENSIONS


def file_name(attachment: Attachment) -> str:
    """Return the name of the attachment's file in an archive. The extension of a document is its owner's."""
    extension = EXTENSIONS.get(attachment.media_type) or attachment.name.rpartition(".")[2].lower()
    known = extension.isascii() and extension.isalnum() and len(extension) <= MAX_EXTENSION_CHARS
    return f"{ATTACHMENTS_FOLDER}{attachment.sha256}.{extension if known else UNKNOWN_EXTENSION}"


def citation_object(citation: Citation) -> Object:
    """Return a passage that a reply was written from. `page` is 0 for none, `url` "" for none.

    `attachment` is the id of the document that it is from, if that is known.
    """
    found = {name: getattr(citation, name) for name in EXPORTED_CITATION_FIELDS} | {
        "created": written(citation.created)
    }
    return found | ({"attachment": str(citation.attachment_id)} if citation.attachment_id else {})


def sources_of(message: Object) -> list[CitedSource]:
    """Return the sources of a message's citations."""
    found = enumerate(message.get("citations", ()), 1)
    return by_source(
        Citation(number=n, **{name: each[name] for name in EXPORTED_CITATION_FIELDS}) for n, each in found
    )


def sha256_in(name: str) -> str:
    """Return the hash in what `file_name` returned."""
    return name.removeprefix(ATTACHMENTS_FOLDER).partition(".")[0]


def run_object(run: Run) -> Object:
    """Return one attempt at a reply. `usage` is null if the model's server did not report it."""
    found: Object = {name: getattr(run, name) for name in RUN_TEXTS}
    found |= {"parameters": run.parameters, "max_tokens": run.max_tokens}
    found |= {name: written(getattr(run, name)) for name in RUN_TIMES}
    reported = run.completion_tokens is not None
    return found | {"usage": {name: getattr(run, name) for name in USAGE_FIELDS} if reported else None}
