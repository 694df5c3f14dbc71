"""The index in SQLite, an FTS5 table: https://www.sqlite.org/fts5.html

It keeps no text, so it deletes the words of a document only when they are named once more. Words hold only
letters, digits and underscores, so they need no escaping.
"""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from string import ascii_lowercase, digits

from django.db import connection

from chat.db.rows import column_of

from .query import Query, Term
from .words import Document

ADD_DOCUMENTS = """
INSERT INTO chat_searchdocument (owner, message, conversation) VALUES {rows}
ON CONFLICT DO NOTHING RETURNING id, COALESCE(message, conversation)
"""
ADD = "INSERT INTO chat_search_words (rowid, words) VALUES (%s, %s)"
DELETE = "INSERT INTO chat_search_words (chat_search_words, rowid, words) VALUES ('delete', %s, %s)"
MATCHES = """
SELECT rowid FROM chat_search_words WHERE chat_search_words MATCH %s AND rowid < %s
ORDER BY rowid DESC LIMIT %s
"""
# The unary plus keeps SQLite from a full-text query for each id.
AMONG = """
SELECT rowid FROM chat_search_words WHERE chat_search_words MATCH %s AND rowid BETWEEN %s AND %s
AND +rowid IN ({ids}) ORDER BY rowid DESC
"""
NO_BOUND = 2**62  # above all ids
# https://www.sqlite.org/fts5.html#the_fts5vocab_virtual_table_module: a row for each word in each document
VOCABULARY = (
    "CREATE VIRTUAL TABLE temp.search_vocabulary USING fts5vocab('main', 'chat_search_words', 'instance')"
)


def add_documents(documents: Sequence[Document]) -> None:
    """Insert documents and their words, without those that are there."""
    by_key = {_to_db(each.message or each.conversation): each for each in documents}
    columns = [
        value for each in documents for value in (each.owner, _to_db(each.message), _to_db(each.conversation))
    ]
    with connection.cursor() as cursor:
        cursor.execute(ADD_DOCUMENTS.format(rows=", ".join(["(%s, %s, %s)"] * len(documents))), columns)
        added = cursor.fetchall()
    add_words([key for key, _ in added], [by_key[subject] for _, subject in added])


def add_words(keys: Sequence[int], documents: Sequence[Document]) -> None:
    """Insert the words of these documents, whose rows are there."""
    rows = ((key, " ".join(document.words)) for key, document in zip(keys, documents, strict=True))
    with connection.cursor() as cursor:
        cursor.executemany(ADD, rows)  # type: ignore[arg-type] # lazy: their words take much memory


def change_words(key: int, former: Document, document: Document) -> None:
    delete_words(key, former)
    add_words([key], [document])


def delete_words(key: int, document: Document) -> None:
    with connection.cursor() as cursor:
        cursor.execute(DELETE, [key, " ".join(document.words)])


def clear() -> None:
    """Delete all documents and all words."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO chat_search_words (chat_search_words) VALUES ('delete-all')")
        cursor.execute("DELETE FROM chat_searchdocument")


def newest(owner: int, query: Query, tag: str, below: int, limit: int) -> tuple[list[int], bool]:
    """Return the ids of the owner's newest matches, and whether there may be more."""
    found = column_of(MATCHES, [_expression(query, tag), below, limit])
    return found, len(found) == limit


def among(query: Query, tag: str, keys: Sequence[int]) -> list[int]:
    """Return which of these documents match, newest first."""
    if not keys:
        return []
    ids = ", ".join(map(str, keys))
    return column_of(AMONG.format(ids=ids), [_expression(query, tag), min(keys), max(keys)])


def newest_of_all(query: Query, limit: int) -> list[int]:
    """Return the ids of all users' newest matches."""
    return column_of(MATCHES, [_expression(query), NO_BOUND, limit])


class IndexedWords:
    """The indexed words of each document, as the sum of their hashes.

    FTS5 lists its content by word and not by document. A sum does not depend on the order, and needs little
    memory.
    """

    def __init__(self) -> None:
        self._sums: dict[int, int] = defaultdict(int)
        with connection.cursor() as cursor:
            cursor.execute(VOCABULARY)
            cursor.execute("SELECT doc, term, offset FROM temp.search_vocabulary")
            while rows := cursor.fetchmany(10_000):
                for document, word, place in rows:
                    self._sums[document] += hash((word, place))
            cursor.execute("DROP TABLE temp.search_vocabulary")

    def different(self, keys: Sequence[int], documents: dict[int, Document]) -> int:
        """Return how many of these documents have other words than their text."""
        sums = {key: self._sums.pop(key, 0) for key in keys}
        return sum(sums[key] != _sum(document) for key, document in documents.items())

    def without_document(self) -> int:
        """Return how many documents that were not compared have words."""
        return len(self._sums)


def _sum(document: Document) -> int:
    return sum(hash((word, place)) for place, word in enumerate(document.words))


def _expression(query: Query, tag: str = "") -> str:
    """Return the query in FTS5's syntax: https://www.sqlite.org/fts5.html#full_text_query_syntax"""
    found = " AND ".join([*([f'"{tag}"'] if tag else []), *map(_term, query.terms)])
    return f"({found}) NOT ({' OR '.join(map(_term, query.excluded))})" if query.excluded else found


def _term(term: Term) -> str:
    phrase = f'"{" ".join(term.words)}"{" *" if term.prefix else ""}'
    if term.prefix and len(term.words) == 1 and len(phrase) == len('"ab" *') and phrase.isascii():
        phrase = _two_letters(term.words[0])
    symbols = [f'"{word.removesuffix("*")}"{" *" if word.endswith("*") else ""}' for word in term.symbols]
    return f"({' AND '.join([phrase, *symbols])})" if symbols else phrase


def _two_letters(start: str) -> str:
    """Return what finds words that begin with two letters, by the index of those that begin with three.

    For the prefix itself FTS5 would merge all of its words: 240 ms of a million messages, and so 4 ms.
    """
    longer = " OR ".join(f'"{start}{letter}" *' for letter in ascii_lowercase + digits)
    return f'("{start}" OR {longer})'


def _to_db(key: uuid.UUID | None) -> str | None:
    """Return a key as SQLite stores it."""
    return key.hex if key else None
