"""Tags of conversations. Each person has their own; names that differ only in case are one tag."""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext as _

from chat.exceptions import Conflict
from chat.models import Conversation, Tag
from chat.models.conversation import ConversationQuerySet, fold

MAX_TAGS_PER_USER = 200
MAX_TAGS_PER_CONVERSATION = 10
COMMON_TAG_CONVERSATIONS = 500  # conversations with a tag

Tagged = Conversation.tags.through


def add_tag(user: Any, conversations: Iterable[uuid.UUID], name: str) -> set[uuid.UUID]:
    """Add a tag to the conversations, and create it if the person has none of that name.

    Return the conversations that did not have it before. The caller must have locked the user's row in the
    present transaction. Raises Conflict beyond the limits.
    """
    tag = Tag.objects.owned_by(user).filter(folded=fold(name)).first() or _create(user, name)
    others = Q(tags__isnull=False) & ~Q(tags=tag)
    counted = Conversation.objects.filter(pk__in=conversations).annotate(others=Count("tags", filter=others))
    if counted.filter(others__gte=MAX_TAGS_PER_CONVERSATION).exists():
        raise Conflict(_("A chat can have at most %(most)s tags.") % {"most": MAX_TAGS_PER_CONVERSATION})
    had = Tagged.objects.filter(tag=tag, conversation__in=conversations)
    new = set(conversations) - set(had.values_list("conversation_id", flat=True))
    Tagged.objects.bulk_create(Tagged(conversation_id=key, tag_id=tag.pk) for key in new)
    return new


def remove_tag(user: Any, conversations: Iterable[uuid.UUID], name: str) -> set[uuid.UUID]:
    """Remove a tag from the conversations. Return those that had it.

    The tag itself is deleted once no conversation has it.
    """
    tags = Tag.objects.owned_by(user).filter(folded=fold(name))
    rows = Tagged.objects.filter(tag__in=tags, conversation__in=conversations)
    had = set(rows.values_list("conversation_id", flat=True))
    rows.delete()
    tags.filter(conversations=None).delete()
    return had


def tag_names(user: Any) -> list[str]:
    """Return the names of the person's tags, in alphabetical order."""
    return list(Tag.objects.owned_by(user).order_by("folded").values_list("name", flat=True))


def having(rows: ConversationQuerySet, user: Any, name: str) -> ConversationQuerySet:
    """Return those of the person's conversations that have this tag.

    Of a common tag, a list that is read in its order comes to enough of them soon; of a rare one, the few
    that have it are read.
    """
    # A query of its own, so that a database knows how many conversations have it.
    tag = Tag.objects.owned_by(user).filter(folded=fold(name)).first()
    if tag is None:
        return rows.none()
    tagged = Tagged.objects.filter(tag=tag)
    if len(tagged.values_list("pk")[:COMMON_TAG_CONVERSATIONS]) < COMMON_TAG_CONVERSATIONS:
        return rows.filter(pk__in=tagged.values("conversation"))
    return rows.filter(Exists(tagged.filter(conversation=OuterRef("pk"))))


def tags_of(conversations: Iterable[uuid.UUID]) -> dict[uuid.UUID, list[str]]:
    """Return {conversation: names of its tags}, without conversations that have none, by one query."""
    found: dict[uuid.UUID, list[str]] = {}
    rows = Tagged.objects.filter(conversation__in=conversations).order_by("tag__folded")
    for key, name in rows.values_list("conversation_id", "tag__name"):
        found.setdefault(key, []).append(name)
    return found


def _create(user: Any, name: str) -> Tag:
    """Create a tag. At the limit, first delete unused tags, which purged conversations leave behind."""
    mine = Tag.objects.owned_by(user)
    if mine.count() >= MAX_TAGS_PER_USER:
        mine.filter(conversations=None).delete()
    if mine.count() >= MAX_TAGS_PER_USER:
        raise Conflict(_("You already have %(most)s tags. Remove one first.") % {"most": MAX_TAGS_PER_USER})
    return Tag.objects.create(user=user, name=name, folded=fold(name))
