"""Merge a later export of a conversation that was imported before: add its new messages.

Nothing else changes: existing texts and the title stay, deleted messages stay deleted, and messages that the
owner added here stay too.
"""

import uuid
from collections.abc import Callable, Iterable

from django.db.models.functions import Greatest

from chat.db.executor import short_transaction
from chat.models import Conversation, Message, User

from .records import MAX_IMPORTED_MESSAGES, ImportedConversation, ImportedMessage
from .storing import add_messages, batches_of, id_of, ids_of

Present = set[uuid.UUID]  # ids of stored messages that are not deleted
ID_BYTES = 16
MAX_PLANNED = 1_000_000  # messages of a file whose ids a preview keeps, 16 bytes each


class Planned:
    """The messages that a file adds to each conversation, for the preview of a file that repeats some.

    Ids are kept for MAX_PLANNED messages. Of a repeated conversation beyond that, nothing counts as new.
    """

    def __init__(self) -> None:
        self._ids: dict[uuid.UUID, bytes | None] = {}
        self._room = MAX_PLANNED

    def __contains__(self, conversation: uuid.UUID) -> bool:
        return conversation in self._ids

    def add(self, conversation: uuid.UUID, ids: Iterable[uuid.UUID]) -> None:
        packed = b"".join(each.bytes for each in ids)
        before = self._ids.get(conversation, b"")
        self._room -= len(packed) // ID_BYTES
        self._ids[conversation] = None if before is None or self._room < 0 else before + packed

    def get(self, conversation: uuid.UUID) -> Present | None:
        """Return the ids of the messages; None if they are not kept."""
        packed = self._ids.get(conversation)
        if packed is None:
            return None
        return {uuid.UUID(bytes=packed[at : at + ID_BYTES]) for at in range(0, len(packed), ID_BYTES)}


def new_messages(
    user: User, imported: ImportedConversation, planned: Present | None = None
) -> list[ImportedMessage]:
    """Return what the file adds to the conversation of an earlier import, parents first; nothing if deleted.

    `planned`: the ids of the messages that the same file adds to it before; None if it adds none.
    """
    key = id_of(user, imported)
    existing = Conversation.objects.owned_by(user).filter(pk=key, temporary=False)
    if planned is None and not existing.exists():
        return []
    rows = dict(Message.objects.filter(conversation=key).values_list("pk", "deleted"))
    known = rows.keys() | (planned or set())
    ids = ids_of(key, imported)
    present = {pk for pk in known if rows.get(pk) is None}
    found = _connected(present, [each for each in imported.messages if ids[each.key] not in known], ids)
    return found if len(known) + len(found) <= MAX_IMPORTED_MESSAGES else []


def merge(
    user: User, imported: ImportedConversation, new: list[ImportedMessage], confirm: Callable[[bool], None]
) -> None:
    """Store the new messages in short transactions. `confirm`: as in `store_conversation`."""
    key = id_of(user, imported)
    ids = ids_of(key, imported)
    batches = batches_of(new)
    for number, batch in enumerate(batches, 1):
        with short_transaction():
            mine = Conversation.objects.owned_by(user).filter(pk=key)
            # The lock keeps the parents of the new messages from being deleted before the commit.
            if conversation := mine.select_for_update(of=("self",), no_key=True).first():
                _add(conversation, batch, ids)
                if number == len(batches):
                    _show_latest(conversation, imported, ids[imported.leaf])
            confirm(number == len(batches))


def _connected(
    present: Present, messages: list[ImportedMessage], ids: dict[str, uuid.UUID]
) -> list[ImportedMessage]:
    """Return the messages whose ancestors are all stored or new, and add their ids to `present`."""
    found = []
    for message in messages:
        if message.parent is None or ids[message.parent] in present:
            present.add(ids[message.key])
            found.append(message)
    return found


def _add(conversation: Conversation, batch: list[ImportedMessage], ids: dict[str, uuid.UUID]) -> None:
    parents = [ids[each.parent] for each in batch if each.parent is not None]
    parent_rows = Message.objects.filter(pk__in=parents, deleted=None)
    present = set(parent_rows.values_list("pk", flat=True))
    Conversation.objects.filter(pk=conversation.pk).change()
    add_messages(conversation, _connected(present, batch, ids), ids)


def _show_latest(conversation: Conversation, imported: ImportedConversation, leaf: uuid.UUID) -> None:
    """Make the file's last message the active leaf, unless the owner has continued on another branch."""
    rows = Conversation.objects.filter(pk=conversation.pk)
    rows.update(updated=Greatest("updated", imported.updated))
    path = {node.id for node in Message.objects.ancestors(leaf, MAX_IMPORTED_MESSAGES)}
    if conversation.active_leaf_id in path and Message.objects.filter(pk=leaf, deleted=None).exists():
        rows.update(active_leaf=leaf)
