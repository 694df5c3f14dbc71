"""Copies of a branch as a new conversation. Runs are not copied, so that their usage is counted once.

A long copy is written in many short transactions, so that others can write in between. Until the last one it
is a temporary conversation: if a crash leaves it incomplete, it is in no list, and is purged.
"""

import re
import uuid
from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _

from chat.db.batches import batches_by_size
from chat.db.executor import short_transaction
from chat.exceptions import ConversationBusy, PayloadTooLarge
from chat.files.uploads import clean
from chat.formats import grouped_number
from chat.limits import TITLE_LENGTH
from chat.models import Attachment, Citation, Conversation, Feedback, Message, Run, SharedLink, Step, User
from chat.models.citation import redact
from chat.models.message import PathNode
from chat.search import index

MAX_FORK_MESSAGES = 2_000  # of one copy
MAX_FORK_CHARS = 4_000_000  # code points of all texts of one copy
# The limits of what is in memory and in one transaction at a time.
FORK_BATCH_MESSAGES = 100
FORK_BATCH_CHARS = 100_000
NUMBERED = re.compile(r"(.+) \([2-9]\d?\)|(.+) \(1\d\)", re.DOTALL)  # not a year in a title
COPIED_FIELDS = ("role", "text", "reasoning", "model", "created")
CopiedFields = Callable[[Message], dict[str, Any]]  # returns the fields that the copy of a message gets


def _copied_fields(message: Message) -> dict[str, Any]:
    return {name: getattr(message, name) for name in COPIED_FIELDS}


def fork(user: User, source: Conversation, leaf: uuid.UUID) -> Conversation:
    """Copy the branch that ends with `leaf` into a new conversation of this user, and return it.

    The caller has checked the right to read `source`. The copy has a number after its title, as in
    "Boats (2)", and no tags; its replies keep their models and thumbs. Raises ConversationBusy while the leaf
    is being written, PayloadTooLarge for too long a branch.
    """
    if run := Run.objects.live().filter(message=leaf).first():
        raise ConversationBusy(_("A reply is still being written. Wait for it or stop it."), run=run.pk)
    made = Conversation(
        user=user,
        title=_numbered_title(user, source.title),
        model=source.model,
        system=source.system,
        parameters=source.parameters,
        tools=source.tools,
        assistant_version_id=source.assistant_version_id,
    )
    copy_branch(made, leaf, _copied_fields, with_feedback=True, with_names=True)
    return made


def _numbered_title(user: User, title: str) -> str:
    """Return the title with the lowest number from 2 on that no title of the user's has yet."""
    found = NUMBERED.fullmatch(title)
    base = (found[1] or found[2]) if found else title
    longest = TITLE_LENGTH - len(" (9999)")
    own = Conversation.objects.filter(user=user, deleted=None, title__startswith=base[:longest])
    taken, number = set(own.values_list("title", flat=True)), 2
    while (numbered := f"{base[: TITLE_LENGTH - len(f' ({number})')].rstrip()} ({number})") in taken:
        number += 1
    return numbered


def copy_branch(
    made: Conversation,
    leaf: uuid.UUID,
    copied_fields: CopiedFields,
    *,
    with_feedback: bool = False,
    with_names: bool = False,
    shared: SharedLink | None = None,
) -> None:
    """Store the new conversation `made` with a copy of the branch that ends with `leaf`.

    Its attachments are copied, and the names of pictures only `with_names`. If the branch is `shared` with
    the one who copies it, only those citations and steps are copied that its page shows, without what the
    models were sent. Raises PayloadTooLarge for too long a branch.
    """
    path = _path(leaf)
    copies = {node.id: uuid.uuid4() for node in path}
    # {id: id of its copy}; a copy that goes on with the assistant cites the same documents of it.
    attachments = {each.pk: each.pk for each in Attachment.objects.of_version(made.assistant_version_id)}
    made.temporary = True
    with short_transaction():
        made.save(force_insert=True)
    batches = batches_by_size(
        path, lambda node: node.length, max_items=FORK_BATCH_MESSAGES, max_size=FORK_BATCH_CHARS
    )
    for nodes in batches:
        batch = [node.id for node in nodes]
        with short_transaction():
            _copy(made, batch, copies, copied_fields)
            attachments |= _copy_attachments(made, batch, copies, with_names=with_names)
            _copy_citations(batch, copies, attachments, shared)
            if shared is None or shared.shows_steps:
                _copy_steps(batch, copies, shared)
            if with_feedback:
                _copy_feedback(made, batch, copies)
    made.active_leaf_id, made.temporary = copies[leaf], False
    with short_transaction():
        made.save(update_fields=["active_leaf", "temporary"])
        index.add([index.title_of(made)])


def _path(leaf: uuid.UUID) -> list[PathNode]:
    """Return the messages of the branch, the root first. Raises PayloadTooLarge."""
    path = list(Message.objects.ancestors(leaf, MAX_FORK_MESSAGES + 1))
    if len(path) > MAX_FORK_MESSAGES:
        words = _("A copy can have at most %(most)s messages.")
        raise PayloadTooLarge(words % {"most": grouped_number(MAX_FORK_MESSAGES)})
    if sum(node.length for node in path) > MAX_FORK_CHARS:
        words = _("A copy can have at most %(most)s characters.")
        raise PayloadTooLarge(words % {"most": grouped_number(MAX_FORK_CHARS)})
    return path[::-1]


def _copy(
    made: Conversation, keys: list[uuid.UUID], copies: dict[uuid.UUID, uuid.UUID], copied_fields: CopiedFields
) -> None:
    rows = Message.objects.in_bulk(keys)
    added = Message.objects.bulk_create(
        Message(
            id=copies[key],
            conversation=made,
            parent_id=copies.get(rows[key].parent_id),  # type: ignore[arg-type]
            **copied_fields(rows[key]),
        )
        for key in keys
    )
    index.add(index.message_of(message, made.user_id) for message in added)


def _copy_attachments(
    made: Conversation, keys: list[uuid.UUID], copies: dict[uuid.UUID, uuid.UUID], *, with_names: bool
) -> dict[uuid.UUID, uuid.UUID]:
    """Copy the rows of the attachments, with the same files. Return {id: id of its copy}."""
    added, found = [], {}
    for message, several in Attachment.objects.of_messages(keys).items():
        for each in several:
            copy = each.copy(owner_id=made.user_id, message_id=copies[message], position=each.position)
            if each.is_picture and not with_names:
                copy.name = clean("", each.media_type)
            added.append(copy)
            found[each.pk] = copy.pk
    Attachment.objects.bulk_create(added)
    return found


def _copy_citations(
    keys: list[uuid.UUID],
    copies: dict[uuid.UUID, uuid.UUID],
    attachments: dict[uuid.UUID, uuid.UUID],
    shared: SharedLink | None,
) -> None:
    """Copy the citations. `attachments`: {id: id of its copy}, of all messages up to these."""
    Citation.objects.bulk_create(
        each.copy(copies[message], attachments.get(each.attachment_id) if each.attachment_id else None)
        for message, citations in Citation.objects.of_messages(keys).items()
        for each in (redact(shared.of_its_time(citations)) if shared else citations)
    )


def _copy_steps(keys: list[uuid.UUID], copies: dict[uuid.UUID, uuid.UUID], shared: SharedLink | None) -> None:
    found = Step.objects.of_messages(keys, with_results=shared is None)
    Step.objects.bulk_create(
        step.copy(copies[message], number, for_others=shared is not None)
        for message, steps in found.items()
        for number, step in enumerate(shared.of_its_time(steps) if shared else steps, 1)
    )


def _copy_feedback(made: Conversation, keys: list[uuid.UUID], copies: dict[uuid.UUID, uuid.UUID]) -> None:
    copied = list(Feedback.objects.filter(message__in=keys))
    for each in copied:
        each.pk, each.message_id = None, copies[each.message_id]
        each.conversation, each.user_id = made.pk, made.user_id
    Feedback.objects.bulk_create(copied)
