"""The index in PostgreSQL, a column `tsvector`.

PostgreSQL collects all matches before it sorts them, which is slow for a common word. So a person's newest
documents are searched first, without the index, and the whole index only if these have too few matches.
Words hold only letters, digits and underscores, so they need no escaping.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from chat.db.rows import column_of, rows_of

from .query import Query, Term
from .words import Document

# A person's newest documents, which are read one by one: the first, and more if these promise enough matches
# or if there are filters, which leave some of them.
RECENT_DOCUMENTS, MORE_DOCUMENTS = 1_000, 5_000
ENOUGH_RECENT = 50  # matches among them; with fewer the whole index is searched
SAMPLE_DOCUMENTS = 2_000  # newest documents that are searched to estimate how common the words are
NO_BOUND = 2**62  # above all ids
INDEX_COST = 5  # of a match that the index finds, in documents that are read one after another

ADD_DOCUMENTS = """
WITH given AS (
    SELECT * FROM unnest(%s::bigint[], %s::uuid[], %s::uuid[], %s::text[])
    AS given (owner, message, conversation, words)
), added AS (
    INSERT INTO chat_searchdocument (owner, message, conversation)
    SELECT owner, message, conversation FROM given
    ON CONFLICT DO NOTHING RETURNING id, COALESCE(message, conversation) AS subject
) INSERT INTO chat_search_words (id, words)
SELECT added.id, given.words::tsvector
FROM added JOIN given ON COALESCE(given.message, given.conversation) = added.subject
"""
ADD_WORDS = """
INSERT INTO chat_search_words (id, words)
SELECT added.id, added.words::tsvector FROM unnest(%s::bigint[], %s::text[]) AS added (id, words)
"""
# IS TRUE, here and below, keeps the planner from using the GIN index of the words.
RECENT = """
SELECT id FROM (
    SELECT id FROM chat_searchdocument WHERE owner = %s AND id < %s ORDER BY id DESC LIMIT %s
) AS recent JOIN chat_search_words USING (id) WHERE (words @@ %s::tsquery) IS TRUE ORDER BY id DESC LIMIT %s
"""
# MATERIALIZED keeps the planner from reading all documents in id order.
MATCHES = """
WITH found AS MATERIALIZED (SELECT id FROM chat_search_words WHERE words @@ %s::tsquery)
SELECT id FROM found WHERE id < %s ORDER BY id DESC LIMIT %s
"""
AMONG = """
SELECT id FROM chat_search_words WHERE id = ANY(%s) AND (words @@ %s::tsquery) IS TRUE ORDER BY id DESC
"""
SAMPLE = """
SELECT COUNT(*), (SELECT MAX(id) - MIN(id) + 1 FROM chat_search_words)
FROM (SELECT words FROM chat_search_words ORDER BY id DESC LIMIT %s) AS recent
WHERE (words @@ %s::tsquery) IS TRUE
"""
COMMON = """
SELECT id FROM chat_search_words WHERE (words @@ %s::tsquery) IS TRUE ORDER BY id DESC LIMIT %s
"""
DIFFERENT = """
SELECT expected.id FROM unnest(%s::bigint[], %s::text[]) AS expected (id, words)
LEFT JOIN chat_search_words indexed ON indexed.id = expected.id
WHERE indexed.words IS DISTINCT FROM expected.words::tsvector
"""
WITHOUT_DOCUMENT = """
SELECT COUNT(*) FROM chat_search_words w
WHERE NOT EXISTS (SELECT 1 FROM chat_searchdocument d WHERE d.id = w.id)
"""


def add_documents(documents: Sequence[Document]) -> None:
    rows = ((each.owner, each.message, each.conversation, tsvector(each.words)) for each in documents)
    _execute(ADD_DOCUMENTS, *map(list, zip(*rows, strict=True)))


def add_words(keys: Sequence[int], documents: Sequence[Document]) -> None:
    _execute(ADD_WORDS, list(keys), [tsvector(document.words) for document in documents])


def change_words(key: int, former: Document, document: Document) -> None:
    _execute("UPDATE chat_search_words SET words = %s::tsvector WHERE id = %s", tsvector(document.words), key)


def delete_words(key: int, document: Document) -> None:
    _execute("DELETE FROM chat_search_words WHERE id = %s", key)


def clear() -> None:
    _execute("TRUNCATE chat_search_words, chat_searchdocument")


def newest(owner: int, query: Query, tag: str, below: int, limit: int) -> tuple[list[int], bool]:
    wanted = _expression(query, tag)
    number = MORE_DOCUMENTS if query.has_filters else RECENT_DOCUMENTS
    recent = column_of(RECENT, [owner, below, number, wanted, limit])
    if len(recent) < ENOUGH_RECENT <= len(recent) * (MORE_DOCUMENTS // number):
        recent = column_of(RECENT, [owner, below, MORE_DOCUMENTS, wanted, limit])
    if len(recent) >= ENOUGH_RECENT:
        return recent, True
    found = column_of(MATCHES, [wanted, below, limit])
    return found, len(found) == limit


def among(query: Query, tag: str, keys: Sequence[int]) -> list[int]:
    return column_of(AMONG, [list(keys), _expression(query, tag)])


def newest_of_all(query: Query, limit: int) -> list[int]:
    wanted = _expression(query)
    ((sampled, total),) = rows_of(SAMPLE, [SAMPLE_DOCUMENTS, wanted])
    if _is_common(sampled, total or 0, limit):
        return column_of(COMMON, [wanted, limit])
    return column_of(MATCHES, [wanted, NO_BOUND, limit])


def _is_common(sampled: int, total: int, limit: int) -> bool:
    """Return True if it costs less to read the newest documents until `limit` of them match than all matches.

    `sampled`: how many of SAMPLE_DOCUMENTS matched, of `total` documents.
    """
    share = sampled / SAMPLE_DOCUMENTS
    return share > 0 and limit / share < share * total * INDEX_COST


class IndexedWords:
    def different(self, keys: Sequence[int], documents: dict[int, Document]) -> int:
        vectors = [tsvector(document.words) for document in documents.values()]
        return len(column_of(DIFFERENT, [list(documents), vectors]))

    def without_document(self) -> int:
        """Return how many documents have words and no row."""
        return int(column_of(WITHOUT_DOCUMENT)[0])


def tsvector(words: Sequence[str]) -> str:
    """Return the words and their positions, counted from 1."""
    positions: dict[str, list[str]] = {}
    for at, word in enumerate(words, 1):
        positions.setdefault(word, []).append(str(at))
    return " ".join(f"'{word}':{','.join(at)}" for word, at in positions.items())


def _expression(query: Query, tag: str = "") -> str:
    """Return the query as a tsquery.

    https://www.postgresql.org/docs/current/datatype-textsearch.html#DATATYPE-TSQUERY
    """
    unwanted = (f"!{_term(term)}" for term in query.excluded)
    return " & ".join([*([f"'{tag}'"] if tag else []), *map(_term, query.terms), *unwanted])


def _term(term: Term) -> str:
    *first, last = (f"'{word}'" for word in term.words)
    phrase = " <-> ".join([*first, f"{last}:*" if term.prefix else last])
    symbols = [f"'{word.removesuffix('*')}'{':*' if word.endswith('*') else ''}" for word in term.symbols]
    return f"({' & '.join([phrase, *symbols])})"


def _execute(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
