"""The messages of a branch as a prompt needs them, with their pictures and documents."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chat.models import Attachment, Message
from chat.upstream.catalog import LlmModel
from chat.upstream.pictures import Part, PromptPicture, message_of, parts_of

from . import attached

MAX_PROMPT_MESSAGES = 1_000  # per prompt; reading more would slow down every send in a long conversation
MAX_CHARS_PER_TOKEN = 4  # a token is rarely longer
NO_TEXTS: Mapping[uuid.UUID, str] = {}


@dataclass(frozen=True, slots=True)
class BranchMessage:
    """A message of a branch. `id` is in the database's own form; None if the message is not stored yet.

    `before`: a text to send before the message's own.
    """

    id: Any
    role: str
    text: str
    pictures: Sequence[PromptPicture] = ()
    documents: Sequence[Attachment] = ()
    before: str = ""


def new_question(content: str, attachments: Sequence[Attachment]) -> BranchMessage:
    pictures, documents = attached.pictures_in(attachments), attached.documents_in(attachments)
    return BranchMessage(None, Message.Role.USER, content, pictures, documents)


def read(leaf: uuid.UUID | None, model: LlmModel) -> list[BranchMessage]:
    """Return the messages up to `leaf`, as far back as could possibly fit into the window, oldest first.

    One query more if there are attachments.
    """
    if leaf is None:
        return []
    to_python = Message._meta.pk.to_python
    branch = Message.objects.recent(leaf, MAX_PROMPT_MESSAGES, model.window * MAX_CHARS_PER_TOKEN)
    with_some = [to_python(id_) for id_, *_, has_attachments in branch if has_attachments]
    found = Attachment.objects.of_messages(with_some)
    messages = []
    for id_, role, text, has_attachments in reversed(branch):
        several = found.get(to_python(id_), []) if has_attachments else []
        pictures, documents = attached.pictures_in(several), attached.documents_in(several)
        messages.append(BranchMessage(id_, role, text, pictures, documents))
    return messages


def with_documents(
    messages: Sequence[BranchMessage], documents: Sequence[Attachment]
) -> Sequence[BranchMessage]:
    """Return the messages with documents that stand before those of their first question."""
    if not documents:
        return messages
    place = next(n for n, each in enumerate(messages) if each.role == Message.Role.USER)
    first = replace(messages[place], documents=[*documents, *messages[place].documents])
    return [*messages[:place], first, *messages[place + 1 :]]


def merged(
    branch: Iterable[BranchMessage], texts: Mapping[uuid.UUID, str] = NO_TEXTS
) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the messages for a request, and their ids. `texts` stand for the documents, by their ids.

    Messages with the same role are merged into one, with the id of the first, and an empty one is left out.
    So an empty reply is dropped and the questions around it become one, because the templates of many models
    demand that the roles alternate.
    """
    messages: list[dict[str, Any]] = []
    ids: list[Any] = []
    for each in branch:
        documents = [texts[one.pk] for one in each.documents if one.pk in texts]
        text = "\n\n".join(filter(None, [*documents, each.before, each.text]))
        parts: list[Part] = [text, *each.pictures]
        if not any(parts):
            continue
        if messages and messages[-1]["role"] == each.role:
            messages[-1] = message_of(each.role, [*parts_of(messages[-1]), *parts])
        else:
            messages.append(message_of(str(each.role), parts))
            ids.append(each.id)
    return messages, ids
