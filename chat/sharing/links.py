"""Shared links: their lifetimes and limits, and how they are created and revoked."""

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.conversations.turns.planner import lock_conversation
from chat.db.executor import write_lock
from chat.exceptions import Conflict, ConversationBusy, NotFound
from chat.models import Message, Run, SharedLink, User
from chat.models.conversation import title_from
from chat.models.message import MAX_BRANCH_DEPTH

MAX_LINKS_PER_USER = 100
DAYS = ("1", "7", "30")
NEVER = "never"
DEFAULT_LINK_DAYS = "7"
NO_TITLE = "…"
SHOWN = ("name", "steps")  # what a link shows only if its owner says so


def is_on() -> bool:
    return bool(settings.SHARING != "off")


def lifetimes() -> tuple[str, ...]:
    """Return the lifetimes that the site allows: a number of days each, or NEVER."""
    return (*DAYS, NEVER) if settings.SHARING == "permanent" else DAYS


def check(message: Message) -> None:
    """Raise Conflict or ConversationBusy if the branch that ends with `message` cannot be shared now."""
    if message.conversation.temporary:
        raise Conflict(_("A temporary chat can’t be shared."))
    if run := Run.objects.live().filter(message=message).first():
        raise ConversationBusy(_("A reply is still being written. Wait for it or stop it."), run=run.pk)


def title_of(message: Message) -> str:
    """Return the title for a link to the branch that ends with `message`.

    A conversation's title is made of its first question, and an edit of that does not change it. So a branch
    that begins with another version gets the first line of its own question.
    """
    roots = Message.objects.filter(conversation_id=message.conversation_id, parent=None)  # deleted ones, too
    first = roots.order_by("created", "pk").values_list("pk", flat=True).first()
    *_later, root = Message.objects.ancestors(message.pk, MAX_BRANCH_DEPTH)
    if root.id == first:
        return message.conversation.title
    return title_from(Message.objects.values_list("text", flat=True).get(pk=root.id)) or NO_TITLE


def create(
    user: User,
    leaf: uuid.UUID,
    lifetime: str,
    *,
    shows_name: bool,
    shows_steps: bool = False,
    title: str | None = None,
) -> tuple[SharedLink, str]:
    """Store a link to the branch that ends with `leaf`. Return it and its token.

    Without a `title` it gets the one of `title_of`. Raises NotFound, Conflict and ConversationBusy.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        # A deletion takes the same lock, so that no link to a deleted message remains.
        conversation = lock_conversation(user, leaf)
        message = conversation.messages.filter(pk=leaf, deleted=None).first()
        if message is None:
            raise NotFound(_("This message doesn’t exist."))
        check(message)
        if SharedLink.objects.owned_by(user).count() >= MAX_LINKS_PER_USER:
            words = _("You can have at most %(most)s shared links. Revoke one first.")
            raise Conflict(words % {"most": MAX_LINKS_PER_USER})
        expires = None if lifetime == NEVER else timezone.now() + timedelta(days=int(lifetime))
        made = SharedLink(
            leaf=message,
            leaf_length=len(message.text),
            title=title or title_of(message),
            shows_name=shows_name,
            shows_steps=shows_steps,
            expires=expires,
        )
        token = made.generate_token()
        made.save(force_insert=True)
    return made, token


def of_conversation(user: User, conversation: uuid.UUID) -> "QuerySet[SharedLink]":
    """Return the user's links to branches of a conversation that open now, newest first."""
    return (
        SharedLink.objects.owned_by(user).valid().filter(leaf__conversation=conversation).order_by("-created")
    )


def revoke(user: User, link: uuid.UUID) -> None:
    """Delete a link. Its address is unknown from then on. Raises NotFound."""
    with write_lock():
        deleted, _by_table = SharedLink.objects.owned_by(user).filter(pk=link).delete()
    if not deleted:
        raise NotFound(_("This link doesn’t exist."))
