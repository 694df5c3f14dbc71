"""Find the newest documents that match a query: of one person with their rows, or of all for reviewers."""

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Left

from chat.models import Conversation, Message, SearchDocument

from . import words
from .index import engine
from .query import Query, Term
from .words import message_tag, title_tag

WINDOW_MATCHES = 100  # matches that are ranked together
FILTER_LIMIT = 1_000  # matches whose rows are read to find WINDOW_MATCHES that pass the filters
RANKED_CHARS = 10_000  # the beginning of a text that is read for the ranking
CONVERSATION_FIELDS = (
    "user",
    "title",
    "model",
    "updated",
    "deleted",
    "temporary",
    "pinned_at",
    "archived_at",
)
CONVERSATIONS = """
SELECT DISTINCT COALESCE(d.conversation, m.conversation_id), d.owner
FROM chat_searchdocument d LEFT JOIN chat_message m ON m.id = d.message WHERE d.id IN ({ids})
"""
MIN_PREFIX_CHARS = 3  # a shorter prefix is in most of all users' messages


@dataclass(frozen=True, slots=True)
class Match:
    """A matching message, with the beginning of its text; or a matching title, if `message` is None."""

    id: int
    conversation: uuid.UUID
    message: uuid.UUID | None
    title: str
    text: str
    role: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Window:
    """Matches, newest first. `next`: older matches have ids below this one; None if there are none."""

    matches: list[Match]
    next: int | None


def messages(owner: int, query: Query, below: int) -> Window:
    """Return the user's newest matching messages among the documents with ids below `below`."""
    return _window(owner, query, message_tag(owner), below, _read_messages)


def titles(owner: int, query: Query, below: int) -> Window:
    """Return the user's newest matching titles among the documents with ids below `below`."""
    return _window(owner, query, title_tag(owner), below, _read_titles)


def newest_document() -> int:
    return SearchDocument.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _window(
    owner: int, query: Query, tag: str, below: int, read: "Callable[[int, Query, Sequence[int]], list[Match]]"
) -> Window:
    limit = FILTER_LIMIT if query.has_filters else WINDOW_MATCHES
    keys, has_more = engine.newest(owner, query, tag, below, limit)
    found: list[Match] = []
    for start in range(0, len(keys), WINDOW_MATCHES):
        part = keys[start : start + WINDOW_MATCHES]
        found += read(owner, query, part)
        if len(found) >= WINDOW_MATCHES and part[-1] != keys[-1]:
            return Window(found, part[-1])
    return Window(found, keys[-1] if has_more else None)


def _read_messages(owner: int, query: Query, keys: Sequence[int]) -> list[Match]:
    ids = _keys_by("message", keys)
    rows = Message.objects.filter(_in_time(query, "created"), pk__in=ids, deleted=None)
    fields = ("pk", "conversation_id", "head", "role", "created", "model")
    found = list(rows.annotate(head=Left("text", RANKED_CHARS)).values_list(*fields))
    conversations = _conversations(owner, query, {row[1] for row in found}, Q())
    matches = [
        Match(ids[key], of, key, conversations[of].title, head, role, at)
        for key, of, head, role, at, model in found
        if of in conversations and query.model in (model or conversations[of].model).lower()
    ]
    return sorted(matches, key=lambda match: -match.id)


def _read_titles(owner: int, query: Query, keys: Sequence[int]) -> list[Match]:
    ids = _keys_by("conversation", keys)
    matches = [
        Match(ids[found.pk], found.pk, None, found.title, found.title, "", found.updated)
        for found in _conversations(owner, query, ids, _in_time(query, "updated")).values()
        if query.model in found.model.lower()
    ]
    return sorted(matches, key=lambda match: -match.id)


def _keys_by(column: str, keys: Sequence[int]) -> dict[Any, int]:
    """Return {id of the message or conversation: id of its document}."""
    return dict(SearchDocument.objects.filter(pk__in=keys).values_list(column, "pk"))


def _conversations(
    owner: int, query: Query, keys: Iterable[uuid.UUID], among: Q
) -> dict[uuid.UUID, Conversation]:
    """Return the owner's conversations that pass the query's filters, by id.

    The owner is compared here and not in SQL: SQLite would then use the index by owner, and read all of the
    owner's conversations.
    """
    rows = Conversation.objects.filter(among, pk__in=keys).only(*CONVERSATION_FIELDS)
    return {
        row.pk: row
        for row in rows
        if row.user_id == owner
        and not (row.deleted or row.temporary)
        and not (query.pinned and row.pinned_at is None)
        and not (query.archived and row.archived_at is None)
    }


def _in_time(query: Query, column: str) -> Q:
    found = Q()
    if query.before:
        found &= Q(**{f"{column}__lt": query.before})
    if query.after:
        found &= Q(**{f"{column}__gte": query.after})
    return found


def term_of(text: str) -> Term:
    """Return the term to search for: a single word as a prefix, several words as a phrase."""
    found = tuple(words.split(text))
    return Term(found, prefix=len(found) == 1 and len(found[0]) >= MIN_PREFIX_CHARS)


def conversations_with(terms: Sequence[Term], limit: int) -> dict[uuid.UUID, int]:
    """Return {conversation: owner} of the newest `limit` messages and titles that contain all the terms."""
    if not all(term.words for term in terms):
        return {}
    keys = engine.newest_of_all(Query(tuple(terms)), limit)
    if not keys:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(CONVERSATIONS.format(ids=", ".join(map(str, keys))))
        return {Conversation._meta.pk.to_python(key): owner for key, owner in cursor.fetchall() if key}
