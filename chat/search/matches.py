"""Find the newest documents that match a query: of one person by conversation, or of all for reviewers."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Left

from chat.db.rows import column_of
from chat.models import Conversation, Message, SearchDocument

from . import words
from .index import engine
from .query import Query, Term
from .words import message_tag, title_tag

WINDOW_HITS = 1_000  # matches of a window at most; the index takes as long for ten
SCANNED_HITS = 100  # of them are read first
ENOUGH_CHATS = 24  # conversations among which a page is ranked
MAX_CHATS = 50  # conversations of a window
MAX_TITLES = 100  # of a window
RANKED_MESSAGES = 80  # whose texts are read for the ranking, at least one of each conversation
RANKED_CHARS = 10_000  # the beginning of a text that is read for the ranking
MAX_DOCUMENTS = 10_000  # newest ones of one conversation that are searched
CONVERSATIONS = """
SELECT DISTINCT COALESCE(d.conversation, m.conversation_id), d.owner
FROM chat_searchdocument d LEFT JOIN chat_message m ON m.id = d.message WHERE d.id IN ({ids})
"""
HITS = """
SELECT d.id, m.id, m.conversation_id, m.model
FROM chat_searchdocument d JOIN chat_message m ON m.id = d.message
WHERE d.id IN ({ids}) AND m.deleted IS NULL {in_time} ORDER BY d.id DESC
"""
DOCUMENTS = """
SELECT d.id FROM chat_message m JOIN chat_searchdocument d ON d.message = m.id
WHERE m.conversation_id IN ({conversations}) AND d.id >= %s AND d.id < %s ORDER BY d.id DESC LIMIT %s
"""
MIN_PREFIX_CHARS = 3  # a shorter prefix is in most of all users' messages


@dataclass(frozen=True, slots=True)
class Match:
    """A matching message, with the beginning of its text; or a matching title, if `message` is None."""

    conversation: uuid.UUID
    message: uuid.UUID | None
    title: str
    text: str
    role: str
    at: datetime


class Chat(NamedTuple):
    """The columns of a conversation that are read, in the order of CHAT_FIELDS. Instances cost more."""

    pk: uuid.UUID
    owner: int
    title: str
    model: str
    updated: datetime
    deleted: datetime | None
    temporary: bool
    pinned: datetime | None
    archived: datetime | None


CHAT_FIELDS = (
    "pk", "user_id", "title", "model", "updated", "deleted", "temporary", "pinned_at", "archived_at",
)  # fmt: skip


class Hit(NamedTuple):
    """A matching message, without its text. The keys are as the database has them."""

    document: int
    message: Any
    conversation: Any
    model: str


@dataclass(slots=True)
class Window:
    """The newest matches of some conversations, for the ranking.

    `hits`: the messages of each, newest first, of which some are among `matches`. `next`: older matches have
    ids below this one; None if there are none.
    """

    matches: list[Match]
    hits: Mapping[uuid.UUID, Sequence[Hit]]
    next: int | None

    def further(self, found: Sequence[Match]) -> int:
        """Return how many messages of a conversation were found beside the one that is shown."""
        return max(0, len(self.hits.get(found[0].conversation, ())) - 1)


@dataclass(slots=True)
class _Scan:
    """The conversations of the hits that were read so far, in the order of their newest hit."""

    owner: int
    query: Query
    hits: dict[uuid.UUID, list[Hit]] = field(default_factory=dict)
    keys: dict[Any, uuid.UUID] = field(default_factory=dict)  # of the conversations, by the database's
    conversations: dict[uuid.UUID, Chat] = field(default_factory=dict)
    next: int | None = None

    def add(self, keys: Sequence[int]) -> bool:
        """Add the hits of these documents. Return False if they are of too many conversations."""
        found = _hits(self.query, keys)
        unknown = {hit.conversation for hit in found} - self.keys.keys()
        self.keys |= {key: Conversation._meta.pk.to_python(key) for key in unknown}
        if wanted := [self.keys[key] for key in unknown]:
            self.conversations |= _conversations(self.owner, self.query, wanted, Q())
        for hit in found:
            conversation = self.keys[hit.conversation]
            if not _passes(self.query, hit, self.conversations.get(conversation)):
                continue
            if conversation not in self.hits and len(self.hits) == MAX_CHATS:
                self.next = hit.document + 1
                return False
            self.hits.setdefault(conversation, []).append(hit)
        return True


def window(owner: int, query: Query, below: int, *, is_first: bool) -> Window:
    """Return the newest conversations with a match among the documents with ids below `below`.

    The first window has titles, too. A later one leaves out the conversations of those before.
    """
    titles = _titles(owner, query, below) if is_first or query.in_title else Window([], {}, None)
    if query.in_title:
        return titles
    scan = _scan(owner, query, below)
    if not is_first:
        for key in _earlier(owner, query, scan.hits, below):
            scan.hits.pop(key, None)
    newest_first = _read(scan.conversations, islice(_one_of_each(scan.hits.values()), RANKED_MESSAGES))
    return Window([*titles.matches, *newest_first], scan.hits, scan.next)


def _scan(owner: int, query: Query, below: int) -> _Scan:
    scan = _Scan(owner, query)
    keys, has_more = engine.newest(owner, query, message_tag(owner), below, WINDOW_HITS)
    start, end = 0, SCANNED_HITS
    while part := keys[start:end]:
        if not scan.add(part):
            return scan
        if len(scan.hits) >= ENOUGH_CHATS and part[-1] != keys[-1]:
            scan.next = part[-1]
            return scan
        start, end = end, 3 * end  # a word of all messages needs many hits to be in enough conversations
    scan.next = keys[-1] if has_more else None
    return scan


def _one_of_each(hits: Iterable[Sequence[Hit]]) -> Iterator[Hit]:
    """Yield the newest hit of each conversation, then the second of each, and so on."""
    return (hit for hit in chain.from_iterable(zip_longest(*hits)) if hit)


def _earlier(owner: int, query: Query, keys: Iterable[uuid.UUID], below: int) -> set[uuid.UUID]:
    """Return which conversations have a newer match, so that an earlier window had them."""
    wanted = list(keys)
    newer = _documents(wanted, below, engine.NO_BOUND)
    matching = engine.among(query, message_tag(owner), newer)
    scan = _Scan(owner, query)
    scan.add(matching)
    return scan.hits.keys() | {match.conversation for match in _titles(owner, query, engine.NO_BOUND).matches}


def in_conversation(
    owner: int, query: Query, conversation: uuid.UUID, below: int | None, limit: int
) -> tuple[list[Match], int | None]:
    """Return the newest matching messages of a conversation, and the id below which there are more."""
    bound = engine.NO_BOUND if below is None else below
    of = _conversations(owner, query, [conversation], Q())
    keys = engine.among(query, message_tag(owner), _documents(list(of), 0, bound))
    hits = [hit for hit in _hits(query, keys) if _passes(query, hit, of.get(conversation))]
    return _read(of, hits[:limit]), hits[limit - 1].document if len(hits) > limit else None


def newest_document() -> int:
    return SearchDocument.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _documents(conversations: Sequence[uuid.UUID], first: int, below: int) -> list[int]:
    """Return the ids of the newest documents of the messages of these conversations, newest first."""
    if not conversations:
        return []
    marks = ", ".join(["%s"] * len(conversations))
    to_db = Conversation._meta.pk.get_db_prep_value
    keys = [to_db(key, connection) for key in conversations]
    return column_of(DOCUMENTS.format(conversations=marks), [*keys, first, below, MAX_DOCUMENTS])


def _hits(query: Query, keys: Sequence[int]) -> list[Hit]:
    """Return the messages of these documents that are not deleted and in the query's time, newest first."""
    if not keys:
        return []
    to_db = connection.ops.adapt_datetimefield_value
    limits = [("<", query.before), (">=", query.after)]
    in_time = "".join(f" AND m.created {sign} %s" for sign, limit in limits if limit)
    with connection.cursor() as cursor:
        cursor.execute(
            HITS.format(ids=", ".join(map(str, keys)), in_time=in_time),
            [to_db(limit) for _, limit in limits if limit],
        )
        return list(map(Hit._make, cursor.fetchall()))


def _passes(query: Query, hit: Hit, conversation: Chat | None) -> bool:
    return conversation is not None and query.model in (hit.model or conversation.model).lower()


def _read(conversations: Mapping[uuid.UUID, Chat], hits: Iterable[Hit]) -> list[Match]:
    """Return the matches of these hits, with the beginnings of their texts, in the same order."""
    keys = [Message._meta.pk.to_python(hit.message) for hit in hits]
    rows = Message.objects.filter(pk__in=keys).annotate(head=Left("text", RANKED_CHARS))
    found = {row[0]: row for row in rows.values_list("pk", "conversation_id", "head", "role", "created")}
    return [
        Match(of, key, conversations[of].title, head, role, at)
        for key, of, head, role, at in (found[key] for key in keys if key in found)
    ]


def _titles(owner: int, query: Query, below: int) -> Window:
    limit = WINDOW_HITS if query.has_filters else MAX_TITLES
    keys, has_more = engine.newest(owner, query, title_tag(owner), below, limit)
    rows = SearchDocument.objects.filter(pk__in=keys).order_by("-pk").values_list("conversation", "pk")
    ids = {conversation: key for conversation, key in rows if conversation}
    conversations = _conversations(owner, query, ids, _in_time(query, "updated"))
    found = [
        (ids[key], Match(key, None, each.title, each.title, "", each.updated))
        for key, each in ((key, conversations[key]) for key in ids if key in conversations)
        if query.model in each.model.lower()
    ]
    last = found[MAX_TITLES - 1][0] if len(found) > MAX_TITLES else keys[-1] if has_more else None
    return Window([match for _, match in found[:MAX_TITLES]], {}, last)


def _conversations(owner: int, query: Query, keys: Iterable[uuid.UUID], among: Q) -> dict[uuid.UUID, Chat]:
    """Return the owner's conversations that pass the query's filters, by id.

    The owner is compared here and not in SQL: SQLite would then use the index by owner, and read all of the
    owner's conversations.
    """
    rows = map(Chat._make, Conversation.objects.filter(among, pk__in=keys).values_list(*CHAT_FIELDS))
    return {
        row.pk: row
        for row in rows
        if row.owner == owner
        and not (row.deleted or row.temporary)
        and not (query.pinned and row.pinned is None)
        and not (query.archived and row.archived is None)
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
