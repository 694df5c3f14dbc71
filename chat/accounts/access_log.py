"""The record of staff who read the conversations of others."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from chat.db.executor import write_lock
from chat.models import Conversation, ConversationAccess, ConversationAccessOwner

from .proxies import client_address

REPEATED_WITHIN = timedelta(minutes=10)  # within which a list that shows the same is not recorded again


def record_list(request: HttpRequest, terms: Sequence[str], conversations: Iterable[Conversation]) -> None:
    """Record that a staff member saw these conversations of others, found by `terms`: one entry per page.

    A search is recorded even if it found none. Nothing is recorded if the same search showed the reader all
    of them within `REPEATED_WITHIN`. This covers the return from a conversation to the list, and the links to
    the conversations before and after it.
    """
    shown: dict[int, ConversationAccessOwner] = {}
    reader: Any = request.user
    for each in conversations:
        if each.user_id != reader.pk:
            new = ConversationAccessOwner(owner_key=each.user_id, owner=each.user.get_username())
            shown.setdefault(each.user_id, new).conversations.append(str(each.pk))
    entry = ConversationAccess(
        kind=ConversationAccess.Kind.LIST,
        reader_key=reader.pk,
        reader=reader.get_username(),
        words=" ".join(terms),
        address=client_address(request),
    )
    if (shown or terms) and not _repeats(entry, list(shown.values())):
        with write_lock(), transaction.atomic():
            entry.save(force_insert=True)
            for owner in shown.values():
                owner.access = entry
            ConversationAccessOwner.objects.bulk_create(shown.values())


def _repeats(entry: ConversationAccess, shown: Collection[ConversationAccessOwner]) -> bool:
    """Return True if the reader's lists with the same words showed all of it within `REPEATED_WITHIN`."""
    same = ConversationAccess.objects.filter(
        at__gte=entry.at - REPEATED_WITHIN, kind=entry.kind, reader_key=entry.reader_key
    )
    lists = same.filter(words=entry.words, address=entry.address).values("pk")
    if not shown:
        return lists.exists()
    before: set[str] = set()
    for keys in ConversationAccessOwner.objects.filter(access__in=lists).values_list(
        "conversations", flat=True
    ):
        before.update(keys)
    return all(before.issuperset(owner.conversations) for owner in shown)


def record_once(request: HttpRequest, conversation: Conversation) -> None:
    """Record that a staff member sees a picture of the conversation.

    Nothing is recorded if they read the conversation within `REPEATED_WITHIN`: a transcript with
    pictures is one entry, and so is a picture that is opened from elsewhere.
    """
    reader: Any = request.user
    entries = ConversationAccess.objects.filter(
        at__gte=timezone.now() - REPEATED_WITHIN, reader_key=reader.pk
    )
    read = entries.filter(owner_key=conversation.user_id, conversation=conversation.pk)
    with write_lock(), transaction.atomic():
        if not read.filter(address=client_address(request)).exists():
            record(request, conversation)


def record(request: HttpRequest, conversation: Conversation) -> None:
    """Record that a staff member reads another user's conversation. Their own are not recorded."""
    reader: Any = request.user
    if reader.pk == conversation.user_id:
        return
    ConversationAccess.objects.create(
        reader_key=reader.pk,
        reader=reader.get_username(),
        owner_key=conversation.user_id,
        owner=conversation.user.get_username(),
        conversation=conversation.pk,
        title=conversation.title,
        address=client_address(request),
    )
