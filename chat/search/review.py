"""Search of all users' conversations, for reviewers."""

import uuid
from collections.abc import Sequence

from django.db import connection

from chat.models import Conversation

from . import words
from .expression import fts5, tsquery
from .matches import column_of
from .query import Query, Term

SQLITE_REVIEW = """
SELECT rowid FROM chat_search_words WHERE chat_search_words MATCH %s ORDER BY rowid DESC LIMIT %s
"""
# IS TRUE keeps the planner from using the GIN index: for a common word, reading the newest rows is faster.
POSTGRES_SAMPLE = """
SELECT COUNT(*), (SELECT MAX(id) - MIN(id) + 1 FROM chat_search_words)
FROM (SELECT words FROM chat_search_words ORDER BY id DESC LIMIT %s) AS recent
WHERE (words @@ %s::tsquery) IS TRUE
"""
POSTGRES_COMMON = """
SELECT id FROM chat_search_words WHERE (words @@ %s::tsquery) IS TRUE ORDER BY id DESC LIMIT %s
"""
POSTGRES_REVIEW = """
WITH found AS MATERIALIZED (SELECT id FROM chat_search_words WHERE words @@ %s::tsquery)
SELECT id FROM found ORDER BY id DESC LIMIT %s
"""
CONVERSATIONS = """
SELECT DISTINCT COALESCE(d.conversation, m.conversation_id), d.owner
FROM chat_searchdocument d LEFT JOIN chat_message m ON m.id = d.message WHERE d.id IN ({ids})
"""
MIN_PREFIX_CHARS = 3  # a shorter prefix is in most of all users' messages
SAMPLE_DOCUMENTS = 2_000  # newest documents that are searched to estimate how common the words are
INDEX_COST = 5  # of a match that the index finds, in documents that are read one after another


def term_of(text: str) -> Term:
    """Return the term to search for: a single word as a prefix, several words as a phrase."""
    found = tuple(words.split(text))
    return Term(found, prefix=len(found) == 1 and len(found[0]) >= MIN_PREFIX_CHARS)


def conversations_with(terms: Sequence[Term], limit: int) -> dict[uuid.UUID, int]:
    """Return {conversation: owner} of the newest `limit` messages and titles that contain all the terms."""
    if not all(term.words for term in terms):
        return {}
    keys = _newest(Query(tuple(terms)), limit)
    if not keys:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(CONVERSATIONS.format(ids=", ".join(map(str, keys))))
        return {Conversation._meta.pk.to_python(key): owner for key, owner in cursor.fetchall() if key}


def _newest(query: Query, limit: int) -> list[int]:
    if connection.vendor == "sqlite":
        return column_of(SQLITE_REVIEW, [fts5(query), limit])
    wanted = tsquery(query)
    with connection.cursor() as cursor:
        cursor.execute(POSTGRES_SAMPLE, [SAMPLE_DOCUMENTS, wanted])
        sampled, total = cursor.fetchone()
    statement = POSTGRES_COMMON if is_common(sampled, total or 0, limit) else POSTGRES_REVIEW
    return column_of(statement, [wanted, limit])


def is_common(sampled: int, total: int, limit: int) -> bool:
    """Return True if it costs less to read the newest documents until `limit` of them match than all matches.

    `sampled`: how many of SAMPLE_DOCUMENTS matched, of `total` documents.
    """
    share = sampled / SAMPLE_DOCUMENTS
    return share > 0 and limit / share < share * total * INDEX_COST
