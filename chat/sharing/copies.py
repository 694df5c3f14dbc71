"""Copies of shared branches in the accounts of readers who continue them."""

from typing import Any

from django.utils.translation import gettext as _

from chat.conversations.turns.fork import copy_branch
from chat.exceptions import NotFound
from chat.models import Conversation, Message, SharedLink, User

from .snapshot import shared_text


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
    copy_branch(made, link.leaf_id, shared, until=link.created)
    return made
