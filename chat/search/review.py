"""Search of all users' conversations, for reviewers."""

import uuid
from collections.abc import Sequence

from django.db import connection

from chat.models import Conversation

from . import words
from .database import engine
from .query import Query, Term

CONVERSATIONS = """
SELECT DISTINCT COALESCE(d.conversation, m.conversation_id), d.owner
FROM chat_searchdocument d LEFT JOIN chat_message m ON m.id = d.message WHERE d.id IN ({ids})
"""
MIN_PREFIX_CHARS = 3  # a shorter prefix is in most of all users' messages


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
