"""Storage of an imported conversation, under ids derived from its owner and its id in the file.

So the same conversation is stored once, however often it is imported.
"""

import json
import uuid
from collections.abc import Callable, Iterable
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone
from msgspec import structs

from chat.conversations.changes import MAX_PINNED_CONVERSATIONS
from chat.conversations.tags import MAX_TAGS_PER_CONVERSATION, MAX_TAGS_PER_USER
from chat.conversations.tools.registry import offered as offered_tools
from chat.db.batches import batches_by_size
from chat.db.executor import short_transaction
from chat.models import (
    Attachment,
    Citation,
    Conversation,
    Feedback,
    ImportedRuns,
    Message,
    Preferences,
    Step,
    Tag,
    User,
)
from chat.models.citation import drop_lost_attachments
from chat.models.conversation import fold, title_from
from chat.search import index
from chat.upstream.catalog import Catalog, UnknownModel

from .library import known_parameters, version_of
from .records import ImportedCitation, ImportedConversation, ImportedMessage, ImportedStep
from .tree import TEXTLESS_QUESTION, known_time

IMPORT_NAMESPACE = uuid.UUID("6f0b4d0e-5a0f-5d29-9d5e-0c1a4c3c7b52")
STORE_BATCH_MESSAGES = 200
STORE_BATCH_CHARS = 100_000  # code points


def id_of(user: User, imported: ImportedConversation) -> uuid.UUID:
    """Return the id of the conversation that this user's import creates."""
    return uuid.uuid5(IMPORT_NAMESPACE, f"{user.pk} {imported.source} {imported.key}")


def ids_of(key: uuid.UUID, imported: ImportedConversation) -> dict[str, uuid.UUID]:
    """Return {key in the file: id} of the messages. `key`: the conversation's id."""
    return {message.key: uuid.uuid5(key, message.key) for message in imported.messages}


def is_known(user: User, imported: ImportedConversation) -> bool:
    """Return True if the user has the conversation already: it was imported before, or exported from here."""
    return _known(user, imported).exists()


def is_in_trash(user: User, imported: ImportedConversation) -> bool:
    """Return True if a conversation that is known was deleted."""
    return not _known(user, imported).filter(deleted=None).exists()


def _known(user: User, imported: ImportedConversation) -> QuerySet[Conversation]:
    keys = [id_of(user, imported)]
    if imported.source == "chat":
        keys.append(uuid.UUID(imported.key))
    return Conversation.objects.filter(user=user, pk__in=keys, temporary=False)


def store_conversation(
    user: User,
    imported: ImportedConversation,
    offered: Catalog,
    confirm: Callable[[bool], None] = lambda _: None,
) -> None:
    """Store a new conversation in short transactions, so that others can write in between.

    Until the last one it is a temporary conversation, which no list, search or export shows. If the import is
    stopped, it is swept as such, or completed by the next import. `confirm(is_last)` is called in each
    transaction, and may raise to roll it back and stop.
    """
    conversation = _conversation(user, imported, offered)
    ids = ids_of(conversation.pk, imported)
    batches = batches_of(imported.messages)
    for number, batch in enumerate(batches, 1):
        with short_transaction():
            if number == 1:
                _begin(conversation)
            add_messages(conversation, batch, ids)
            if number == len(batches):
                _complete(conversation, imported, ids[imported.leaf])
            confirm(number == len(batches))


def _conversation(user: User, imported: ImportedConversation, offered: Catalog) -> Conversation:
    assert imported.created
    return Conversation(
        id=id_of(user, imported),
        user=user,
        title=title_from(imported.title) or title_from(imported.messages[0].text) or TEXTLESS_QUESTION,
        model=_model(user, imported.model, offered),
        system=imported.system,
        parameters=known_parameters(imported.parameters),
        tools=[name for name in offered_tools(user) if name in imported.tools],
        assistant_version=version_of(user, imported.assistant),
        created=imported.created,
        temporary=True,
    )


def batches_of(messages: Iterable[ImportedMessage]) -> list[list[ImportedMessage]]:
    """Return the messages in batches, each for one transaction."""
    batches = batches_by_size(
        messages,
        lambda message: sum(map(len, [message.text, message.reasoning, *(s.result for s in message.steps)])),
        max_items=STORE_BATCH_MESSAGES,
        max_size=STORE_BATCH_CHARS,
    )
    return list(batches)


def _begin(conversation: Conversation) -> None:
    """Insert the conversation, unless an import that was stopped has inserted it."""
    begun = Conversation.objects.filter(pk=conversation.pk, temporary=True)
    if not begun.update(updated=timezone.now()):
        conversation.save(force_insert=True)


def add_messages(conversation: Conversation, batch: list[ImportedMessage], ids: dict[str, uuid.UUID]) -> None:
    """Insert the messages that do not exist yet, with their index documents and what belongs to them."""
    user = conversation.user
    rows: list[Message] = []
    attachments: list[Attachment] = []
    citations: list[Citation] = []
    steps: list[Step] = []
    runs: list[ImportedRuns] = []
    feedback: list[Feedback] = []
    for each in batch:
        key = ids[each.key]
        rows.append(_row(conversation, each, ids))
        attachments += (
            Attachment(
                id=_attachment_id(key, place),
                owner=user,
                message_id=key,
                position=place,
                alt=sent.alt,
                **sent.stored,
            )
            for place, sent in enumerate(each.attachments)
            if sent.stored
        )
        created = rows[-1].created
        citations += (_citation(key, n, cited, created, ids) for n, cited in enumerate(each.citations, 1))
        if each.steps and not Step.objects.filter(message=key).exists():
            steps += _steps(key, each.steps, created)
        if each.runs:
            runs.append(ImportedRuns(message_id=key, runs=each.runs))
        if each.feedback:
            up, reason = each.feedback
            about = {"conversation": conversation.pk, "user_id": user.pk}
            feedback.append(Feedback(message_id=key, up=up, reason=reason, **about))
    Message.objects.bulk_create(rows, ignore_conflicts=True)
    index.add(index.message_of(row, user.pk) for row in rows)
    Attachment.objects.bulk_create(attachments, ignore_conflicts=True)
    drop_lost_attachments(citations)  # those whose files were not imported
    Citation.objects.bulk_create(citations, ignore_conflicts=True)
    Step.objects.bulk_create(steps)
    ImportedRuns.objects.bulk_create(runs, ignore_conflicts=True)
    Feedback.objects.bulk_create(feedback, ignore_conflicts=True)


def _row(conversation: Conversation, message: ImportedMessage, ids: dict[str, uuid.UUID]) -> Message:
    assert message.created
    # A question without a text has "" if an attachment of it was stored.
    is_bare = message.role == Message.Role.USER and not any(each.stored for each in message.attachments)
    return Message(
        id=ids[message.key],
        conversation=conversation,
        parent_id=ids[message.parent] if message.parent is not None else None,
        role=message.role,
        text=message.text or (TEXTLESS_QUESTION if is_bare else ""),
        reasoning=message.reasoning,
        model=message.model,
        created=message.created,
        selected_at=message.selected_at,
    )


def _citation(
    message: uuid.UUID, number: int, cited: ImportedCitation, created: datetime, ids: dict[str, uuid.UUID]
) -> Citation:
    fields = structs.asdict(cited) | {"created": cited.created or created}
    if place := fields.pop("attachment"):
        fields["attachment_id"] = _attachment_id(ids[place[0]], place[1])
    return Citation(message_id=message, number=number, **fields)


def _steps(message: uuid.UUID, steps: list[ImportedStep], created: datetime) -> list[Step]:
    """Return the rows of an imported reply's steps. Their costs do not count here: see `Step`.

    A time that cannot be right is replaced by `created`, or left out.
    """
    now = timezone.now()
    return [
        Step(
            message_id=message,
            number=number,
            turn=0,
            revision=number,
            **structs.asdict(step)
            | {
                "arguments": json.loads(step.arguments),
                "sources": [structs.asdict(each) for each in step.sources],
                "created": known_time(step.created, now) or created,
                "finished": known_time(step.finished, now),
            },
        )
        for number, step in enumerate(steps, 1)
    ]


def _attachment_id(message: uuid.UUID, position: int) -> uuid.UUID:
    return uuid.uuid5(message, f"picture {position}")  # also of a document: ids stay as they are


def _complete(conversation: Conversation, imported: ImportedConversation, leaf: uuid.UUID) -> None:
    """Make a complete conversation visible. Its pin and tags are dropped beyond the owner's limits."""
    assert imported.updated
    user = conversation.user
    user.lock()
    may_pin = (
        not imported.archived_at and Conversation.objects.pinned(user).count() < MAX_PINNED_CONVERSATIONS
    )
    Conversation.objects.filter(pk=conversation.pk).update(
        temporary=False,
        active_leaf=leaf,
        updated=imported.updated,
        pinned_at=imported.pinned_at if may_pin else None,
        archived_at=imported.archived_at,
        last_seen=timezone.now(),
    )
    conversation.tags.add(*_tags(user, imported.tags))
    index.add([index.title_of(conversation)])


def _model(user: User, wanted: str, offered: Catalog) -> str:
    """Return the file's model if it is offered here, else the user's model for new chats."""
    try:
        offered.resolve(wanted)
    except UnknownModel:
        preferences = Preferences.objects.filter(pk=user.pk).first()
        return offered.resolve_or_default(preferences.model if preferences else "").id
    return wanted


def _tags(user: User, names: Iterable[str]) -> list[Tag]:
    """Return the user's tags with these names. Missing ones are created, up to the limit."""
    wanted = {fold(name): name for name in names if fold(name)}
    wanted = dict(list(wanted.items())[:MAX_TAGS_PER_CONVERSATION])
    mine = Tag.objects.owned_by(user)
    known = list(mine.filter(folded__in=wanted))
    has = {tag.folded for tag in known}
    new = [Tag(user=user, name=name, folded=folded) for folded, name in wanted.items() if folded not in has]
    room = max(0, MAX_TAGS_PER_USER - mine.count()) if new else 0
    return [*known, *Tag.objects.bulk_create(new[:room])]
