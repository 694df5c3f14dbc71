"""Export of a conversation as JSON: all its branches, with one message on each line."""

import json
from collections.abc import Iterator
from typing import Any

from chat.models import Conversation, Message

from .assistants import reference_object
from .document import conversation_object
from .reading import batches, read


def json_pieces(conversation: Conversation) -> Iterator[str]:
    """Yield the file in pieces, reading from the database only what the next piece needs."""
    head = conversation_object(conversation, _leaf(conversation))
    if version := conversation.assistant_version:
        head["assistant"] = reference_object(version)
    yield f'{_dumps(head)[:-1]}, "messages": ['
    between = "\n"
    for batch in batches(conversation):
        for message in read(batch):
            yield between + _dumps(message)
            between = ",\n"
    yield "\n]}\n"


def _leaf(conversation: Conversation) -> str | None:
    leaf = conversation.active_leaf_id
    there = leaf and Message.objects.filter(pk=leaf, deleted=None).exists()
    return str(leaf) if there else None


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
