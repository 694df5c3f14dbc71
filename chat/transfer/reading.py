"""Reading of conversations in batches of bounded size, however long they are."""

import uuid
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from django.db.models.functions import Length

from chat.db.batches import batches_by_size
from chat.models import Attachment, Citation, Conversation, Message, Run, RunChunk
from chat.models.message import MAX_BRANCH_DEPTH

from .document import message_object, run_object
from .records import Object

READ_BATCH_MESSAGES = 100
READ_BATCH_CHARS = 1_000_000  # code points of text and reasoning; a single message may have more
ID_BYTES = 16  # of a packed UUID

IdBatch = bytes  # ids of messages, 16 bytes each: a tenth of the memory of a list


def batches(conversation: Conversation) -> list[IdBatch]:
    """Return all messages of the conversation, oldest first."""
    rows = Message.objects.filter(conversation_id=conversation.pk, deleted=None).order_by("created", "pk")
    sized = rows.values_list("pk", Length("text") + Length("reasoning"))
    return _packed(sized.iterator(chunk_size=2_000))


def shown_batches(conversation: Conversation) -> list[IdBatch]:
    """Return the messages of the active branch, the root first."""
    return branch_batches(conversation.active_leaf_id) if conversation.active_leaf_id else []


def branch_batches(leaf: uuid.UUID) -> list[IdBatch]:
    """Return the messages of the branch that ends with `leaf`, the root first."""
    path = [(node.id, node.length) for node in Message.objects.ancestors(leaf, MAX_BRANCH_DEPTH)]
    return _packed(reversed(path))


def _packed(sized: Iterable[tuple[uuid.UUID, int]]) -> list[IdBatch]:
    """Return the messages in batches. `sized`: their ids and lengths."""
    batches = batches_by_size(sized, itemgetter(1), max_items=READ_BATCH_MESSAGES, max_size=READ_BATCH_CHARS)
    return [b"".join(key.bytes for key, _ in batch) for batch in batches]


def read(batch: IdBatch) -> list[Object]:
    """Return the messages of a batch, with their runs, feedback, pictures and citations; no deleted ones."""
    keys = [uuid.UUID(bytes=batch[start : start + ID_BYTES]) for start in range(0, len(batch), ID_BYTES)]
    found = Message.objects.filter(deleted=None).select_related("feedback", "imported_runs").in_bulk(keys)
    runs: dict[uuid.UUID, list[Run]] = {}
    for run in Run.objects.filter(message_id__in=keys).order_by("created", "pk"):
        runs.setdefault(run.message_id, []).append(run)
    pictures = Attachment.objects.of_messages(found)
    citations = Citation.objects.of_messages(found)
    return [
        _message(found[key], runs.get(key, []), pictures.get(key, []), citations.get(key, []))
        for key in keys
        if key in found
    ]


def _message(
    message: Message, runs: list[Run], pictures: list[Attachment], citations: list[Citation]
) -> Object:
    text, reasoning = RunChunk.objects.texts(runs[-1].pk) if runs and runs[-1].is_live else ("", "")
    feedback: Any = getattr(message, "feedback", None)
    imported: Any = getattr(message, "imported_runs", None)
    attempts = [*(imported.runs if imported else []), *(run_object(run) for run in runs)]
    texts = message.text + text, message.reasoning + reasoning
    return message_object(message, *texts, feedback, attempts, pictures, citations)
