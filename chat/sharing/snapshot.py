"""The messages of a shared link, as they were when it was created: on its pages, and in copies of readers."""

import uuid
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from chat.conversations.tools.shown import breaks, shown_groups
from chat.conversations.turns.fork import copy_branch
from chat.exceptions import NotFound
from chat.message_rendering import Text, render_page
from chat.models import Attachment, Citation, Conversation, Message, SharedLink, Step, User
from chat.models.citation import by_source, redact
from chat.models.message import MAX_BRANCH_DEPTH
from chat.transfer.json_export import branch_batches, is_picture, read


@dataclass(frozen=True, slots=True)
class SharedPage:
    """Page `number` (from 1) of `count`, oldest messages first. Its messages and characters are limited."""

    link: SharedLink
    messages: list[dict[str, Any]]
    number: int
    count: int

    @property
    def has_attachments(self) -> bool:
        return any(message["pictures"] or message["documents"] for message in self.messages)


def read_page(link: SharedLink, number: int) -> SharedPage | None:
    """Return a page of the shared messages; None if there is no such page.

    Of a message only the role, the text, the model, the pictures, the text of the documents and the sources
    are shared, the steps if the link shows them, and never its reasoning. The names of the pictures' files
    are not shown.
    """
    batches = branch_batches(link.leaf_id)
    if not 0 < number <= len(batches):
        return None
    found = read(batches[number - 1])
    cited = [uuid.UUID(each["id"]) for each in found if each.get("citations")]
    citations = Citation.objects.of_messages(cited, for_others=True)
    steps = Step.objects.of_messages(uuid.UUID(each["id"]) for each in found if link.shows_steps)
    messages = [
        {
            "id": each["id"],
            "role": each["role"],
            "text": shared_text(link, each["id"], each["text"]),
            "model": each["model"],
            "pictures": [one for one in each.get("attachments", ()) if is_picture(one)],
            "documents": [one for one in each.get("attachments", ()) if not is_picture(one)],
            "sources": by_source(redact(link.of_its_time(citations.get(uuid.UUID(each["id"]), ())))),
            "steps": link.of_its_time(steps.get(uuid.UUID(each["id"]), ())),
        }
        for each in found
    ]
    for message in messages:
        message["steps"] = shown_groups(message["steps"], message["text"], live=False, for_others=True)
    return SharedPage(link, messages, number, len(batches))


def shared_text(link: SharedLink, message: Any, text: str) -> str:
    """Return the shared part of a message's text.

    A reply that was continued after the link was created is cut at its former length.
    """
    return text[: link.leaf_length] if str(message) == str(link.leaf_id) else text


def shared_attachment(link: SharedLink, attachment: uuid.UUID) -> Attachment | None:
    """Return the picture or document if a shared message has it, otherwise None."""
    found = Attachment.objects.filter(pk=attachment, message__deleted=None).first()
    if found is None or found.message_id is None:
        return None
    path = Message.objects.ancestors(link.leaf_id, MAX_BRANCH_DEPTH)
    return found if any(node.id == found.message_id for node in path) else None


async def render(snapshot: SharedPage, visitor: Hashable) -> None:
    """Render the messages and add their HTML. `visitor`: the client whose share of the renderer this uses."""
    texts = [
        Text(
            each["text"],
            each["id"],
            typed=each["role"] == Message.Role.USER,
            sources=len(each.get("sources", ())),
            breaks=breaks(each["steps"]),
        )
        for each in snapshot.messages
    ]
    html = await render_page(visitor, texts)
    for message, rendered in zip(snapshot.messages, html, strict=True):
        message["html"] = rendered
        message["parts"] = rendered.around(message["steps"])


def copy(user: User, token: str, model: str) -> Conversation:
    """Copy the shared messages into a new conversation of `user`. Raises NotFound and PayloadTooLarge.

    What the link does not share is not copied either: instructions, the assistant, parameters,
    reasoning and times.
    """
    link = SharedLink.objects.by_token(token)
    if link is None:
        raise NotFound(_("This link doesn’t exist or has expired."))

    def shared(message: Message) -> dict[str, Any]:
        text = shared_text(link, message.pk, message.text)
        return {"role": message.role, "text": text, "model": message.model}

    made = Conversation(user=user, title=link.title, model=model)
    copy_branch(made, link.leaf_id, shared, shared=link)
    return made
