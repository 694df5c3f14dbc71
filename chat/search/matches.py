"""Find the newest documents that match a query: of one person by conversation, or of all for reviewers."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple, cast

from django.db import connection

from chat.db.rows import column_of, rows_of, time_of
from chat.models import Conversation, SearchDocument

from . import words
from .index import engine
from .query import Query, Term
from .words import message_tag, title_tag

WINDOW_HITS = (100, 900)  # matches of a window: the first, and more if these are in few conversations
FILTERED_TITLES = 1_000  # of which the filters leave some
SCANNED_HITS = 100  # whose conversations are read first
MAX_CHATS = 40  # conversations of a window, among which a page is ranked
FEW_CHATS = 40  # pinned or archived: a search for these reads their documents, and no others
MAX_TITLES = 50  # of a window
RANKED_MESSAGES = 80  # whose texts are read for the ranking, at least one of each conversation
RANKED_CHARS = 10_000  # the beginning of a text that is read for the ranking
MAX_DOCUMENTS = 10_000  # newest ones of some conversations that are searched
CONVERSATIONS = """
SELECT DISTINCT COALESCE(d.conversation, m.conversation_id), d.owner
FROM chat_searchdocument d LEFT JOIN chat_message m ON m.id = d.message WHERE d.id IN ({ids})
"""
# CROSS JOIN keeps SQLite from beginning with all conversations of the owner.
HITS = """
SELECT d.id, m.id, c.id, c.title
FROM chat_searchdocument d CROSS JOIN chat_message m CROSS JOIN chat_conversation c
WHERE d.id IN ({ids}) AND m.id = d.message AND m.deleted IS NULL AND c.id = m.conversation_id AND {passes}
ORDER BY d.id DESC
"""
TITLES = """
SELECT d.id, c.id, c.title, c.updated FROM chat_searchdocument d CROSS JOIN chat_conversation c
WHERE d.id IN ({ids}) AND c.id = d.conversation AND {passes} ORDER BY d.id DESC
"""
TEXTS = "SELECT id, SUBSTR(text, 1, %s), role, created FROM chat_message WHERE id IN ({keys})"
DOCUMENTS = """
SELECT d.id FROM chat_message m JOIN chat_searchdocument d ON d.message = m.id
WHERE m.conversation_id IN ({keys}) AND d.id >= %s AND d.id < %s ORDER BY d.id DESC LIMIT %s
"""
TITLE_DOCUMENTS = """
SELECT id FROM chat_searchdocument WHERE conversation IN ({keys}) AND id < %s ORDER BY id DESC
"""
# The model and the time of a message, and those of a conversation.
MESSAGE_COLUMNS = ("COALESCE(NULLIF(m.model, ''), c.model)", "m.created")
TITLE_COLUMNS = ("c.model", "c.updated")
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


class Hit(NamedTuple):
    """A matching message, without its text. The keys are as the database has them."""

    document: int
    message: Any
    conversation: Any
    title: str


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


def window(owner: int, query: Query, below: int, *, is_first: bool) -> Window:
    """Return the newest conversations with a match among the documents with ids below `below`.

    The first window has titles, too. A later one leaves out the conversations of those before.
    """
    titles = _titles(owner, query, below) if is_first or query.in_title else Window([], {}, None)
    if query.in_title:
        return titles
    found, following = _scan(owner, query, below)
    if found and not is_first:
        for key in _earlier(owner, query, found, below):
            found.pop(key, None)
    # The newest hit of each conversation, then the second of each, and so on.
    in_turn = (hit for hit in chain.from_iterable(zip_longest(*found.values())) if hit)
    newest_first = _read(islice(in_turn, RANKED_MESSAGES))
    hits = {_key(conversation): of for conversation, of in found.items()}
    return Window([*titles.matches, *newest_first], hits, following)


def _scan(owner: int, query: Query, below: int) -> tuple[dict[Any, list[Hit]], int | None]:
    """Return the newest hits by conversation, and the id below which there are more, if any."""
    found: dict[Any, list[Hit]] = {}
    for limit in WINDOW_HITS:
        keys, has_more = _newest(owner, query, message_tag(owner), below, limit)
        for hit in _hits(owner, query, keys):
            if hit.conversation not in found and len(found) == MAX_CHATS:
                return found, hit.document + 1
            found.setdefault(hit.conversation, []).append(hit)
        if not has_more:
            return found, None
        below = keys[-1]
    return found, below


def _earlier(owner: int, query: Query, conversations: Iterable[Any], below: int) -> set[Any]:
    """Return which conversations have a newer match, so that an earlier window had them."""
    newer = _documents(list(conversations), below, engine.NO_BOUND)
    matching = _hits(owner, query, engine.among(query, message_tag(owner), newer))
    titles = _titles(owner, query, engine.NO_BOUND).matches
    return {hit.conversation for hit in matching} | {_to_db(match.conversation) for match in titles}


def in_conversation(
    owner: int, query: Query, conversation: uuid.UUID, below: int | None, limit: int
) -> tuple[list[Match], int | None]:
    """Return the newest matching messages of a conversation, and the id below which there are more."""
    bound = engine.NO_BOUND if below is None else below
    keys = engine.among(query, message_tag(owner), _documents([_to_db(conversation)], 0, bound))
    hits = list(islice(_hits(owner, query, keys), limit + 1))
    return _read(hits[:limit]), hits[limit - 1].document if len(hits) > limit else None


def newest_document() -> int:
    return SearchDocument.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _newest(owner: int, query: Query, tag: str, below: int, limit: int) -> tuple[list[int], bool]:
    """Return the ids of the newest matches, and whether there may be more.

    Of a few pinned or archived conversations their documents are searched, which may be far apart.
    """
    few = _few(owner, query)
    if few is None:
        return engine.newest(owner, query, tag, below, limit)
    if tag == message_tag(owner):
        return engine.among(query, tag, _documents(few, 0, below)), False
    return engine.among(query, tag, _among(TITLE_DOCUMENTS, few, [below])), False


def _few(owner: int, query: Query) -> list[Any] | None:
    """Return the conversations that a search for pinned or archived ones is about; None if it is for others,
    or they are many.
    """  # fmt: skip
    if not (query.pinned or query.archived):
        return None
    flag = "pinned_at__isnull" if query.pinned else "archived_at__isnull"
    rows = Conversation.objects.filter(user=owner, deleted=None, **{flag: False})
    keys = [_to_db(key) for key in rows.values_list("pk", flat=True)[: FEW_CHATS + 1]]
    return keys if len(keys) <= FEW_CHATS else None


def _documents(conversations: Sequence[Any], first: int, below: int) -> list[int]:
    """Return the ids of the newest documents of the messages of these conversations, newest first."""
    return _among(DOCUMENTS, conversations, [first, below, MAX_DOCUMENTS])


def _among(statement: str, conversations: Sequence[Any], values: Sequence[Any]) -> list[int]:
    if not conversations:
        return []
    return column_of(statement.format(keys=_marks(conversations)), [*conversations, *values])


def _hits(owner: int, query: Query, keys: Sequence[int]) -> Iterator[Hit]:
    """Yield the messages of these documents that pass the filters, newest first.

    They are read in parts, which grow: the conversations of a common word are often in the first.
    """
    start, end = 0, SCANNED_HITS
    while part := keys[start:end]:
        yield from map(Hit._make, _passing(HITS, owner, query, part, MESSAGE_COLUMNS))
        start, end = end, 3 * end


def _titles(owner: int, query: Query, below: int) -> Window:
    limit = FILTERED_TITLES if query.has_filters else MAX_TITLES
    keys, has_more = _newest(owner, query, title_tag(owner), below, limit)
    found = _passing(TITLES, owner, query, keys, TITLE_COLUMNS)
    last = found[MAX_TITLES - 1][0] if len(found) > MAX_TITLES else keys[-1] if has_more else None
    shown = ((_key(key), title, time_of(at)) for _, key, title, at in found[:MAX_TITLES])
    return Window([Match(key, None, title, title, "", at) for key, title, at in shown], {}, last)


def _passing(
    statement: str, owner: int, query: Query, keys: Sequence[int], columns: tuple[str, str]
) -> list[Any]:
    """Return the rows of these documents whose conversations are the owner's and pass the filters.

    `columns`: those of the model and of the time that the filters are about.
    """
    if not keys:
        return []
    model, at = columns
    ops = connection.ops
    conditions = [
        ("c.user_id = %s", owner),
        (f"LOWER({model}) LIKE %s ESCAPE '\\'", query.model and f"%{ops.prep_for_like_query(query.model)}%"),
        (f"{at} < %s", query.before and ops.adapt_datetimefield_value(query.before)),
        (f"{at} >= %s", query.after and ops.adapt_datetimefield_value(query.after)),
    ]
    wanted = [(condition, value) for condition, value in conditions if value]
    passes = ["c.deleted IS NULL", "NOT c.temporary", *(condition for condition, _ in wanted)]
    passes += ["c.pinned_at IS NOT NULL"] * query.pinned + ["c.archived_at IS NOT NULL"] * query.archived
    ids = ", ".join(map(str, keys))
    return rows_of(statement.format(ids=ids, passes=" AND ".join(passes)), [value for _, value in wanted])


def _read(hits: Iterable[Hit]) -> list[Match]:
    """Return the matches of these hits, with the beginnings of their texts, in the same order."""
    wanted = list(hits)
    keys = [hit.message for hit in wanted]
    if not keys:
        return []
    rows = rows_of(TEXTS.format(keys=_marks(keys)), [RANKED_CHARS, *keys])
    found = {key: (text, role, time_of(at)) for key, text, role, at in rows}
    return [
        Match(_key(hit.conversation), _key(hit.message), hit.title, *found[hit.message])
        for hit in wanted
        if hit.message in found
    ]


def _key(stored: Any) -> uuid.UUID:
    return cast(uuid.UUID, Conversation._meta.pk.to_python(stored))


def _to_db(key: uuid.UUID) -> Any:
    return Conversation._meta.pk.get_db_prep_value(key, connection)


def _marks(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values))


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
    found = rows_of(CONVERSATIONS.format(ids=", ".join(map(str, keys))))
    return {_key(key): owner for key, owner in found if key}
