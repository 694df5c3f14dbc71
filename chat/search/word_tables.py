"""The table of the indexed words: FTS5 on SQLite, a column `tsvector` on PostgreSQL.

FTS5 keeps no text, so it deletes the words of a document only when they are named once more.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from django.db import connection

from .expression import tsvector


class HasWords(Protocol):
    """A document, which computes its words when they are asked for."""

    @property
    def words(self) -> list[str]: ...


class WordTable(Protocol):
    """The operations of the index on its database.

    `keys`: owner, message and conversation of a SearchDocument.
    """

    def add_document(self, cursor: Any, keys: list[Any], document: HasWords) -> None:
        """Insert a document and its words, unless it is there."""

    def add_all(self, cursor: Any, keys: Sequence[int], documents: Sequence[HasWords]) -> None:
        """Insert the words of these documents, whose rows are there."""

    def change(self, cursor: Any, key: int, former: HasWords, document: HasWords) -> None: ...

    def delete(self, cursor: Any, key: int, document: HasWords) -> None: ...

    def clear(self, cursor: Any) -> None:
        """Delete all documents and all words."""


class Fts5Table:
    ADD_DOCUMENT = """
INSERT INTO chat_searchdocument (owner, message, conversation) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING
"""
    ADD = "INSERT INTO chat_search_words (rowid, words) VALUES (%s, %s)"
    DELETE = "INSERT INTO chat_search_words (chat_search_words, rowid, words) VALUES ('delete', %s, %s)"

    def add_document(self, cursor: Any, keys: list[Any], document: HasWords) -> None:
        cursor.execute(self.ADD_DOCUMENT, keys)
        if cursor.rowcount:
            self.add_all(cursor, [cursor.lastrowid], [document])

    def add_all(self, cursor: Any, keys: Sequence[int], documents: Sequence[HasWords]) -> None:
        words = (" ".join(document.words) for document in documents)
        cursor.executemany(self.ADD, zip(keys, words, strict=True))

    def change(self, cursor: Any, key: int, former: HasWords, document: HasWords) -> None:
        self.delete(cursor, key, former)
        self.add_all(cursor, [key], [document])

    def delete(self, cursor: Any, key: int, document: HasWords) -> None:
        cursor.execute(self.DELETE, [key, " ".join(document.words)])

    def clear(self, cursor: Any) -> None:
        cursor.execute("INSERT INTO chat_search_words (chat_search_words) VALUES ('delete-all')")
        cursor.execute("DELETE FROM chat_searchdocument")


class TsvectorTable:
    ADD_DOCUMENT = """
WITH added AS (
    INSERT INTO chat_searchdocument (owner, message, conversation) VALUES (%s, %s, %s)
    ON CONFLICT DO NOTHING RETURNING id
) INSERT INTO chat_search_words (id, words) SELECT id, %s::tsvector FROM added
"""
    ADD_ALL = """
INSERT INTO chat_search_words (id, words)
SELECT added.id, added.words::tsvector FROM unnest(%s::bigint[], %s::text[]) AS added (id, words)
"""
    CHANGE = "UPDATE chat_search_words SET words = %s::tsvector WHERE id = %s"
    DELETE = "DELETE FROM chat_search_words WHERE id = %s"

    def add_document(self, cursor: Any, keys: list[Any], document: HasWords) -> None:
        cursor.execute(self.ADD_DOCUMENT, [*keys, tsvector(document.words)])

    def add_all(self, cursor: Any, keys: Sequence[int], documents: Sequence[HasWords]) -> None:
        cursor.execute(self.ADD_ALL, [list(keys), [tsvector(document.words) for document in documents]])

    def change(self, cursor: Any, key: int, former: HasWords, document: HasWords) -> None:
        cursor.execute(self.CHANGE, [tsvector(document.words), key])

    def delete(self, cursor: Any, key: int, document: HasWords) -> None:
        cursor.execute(self.DELETE, [key])

    def clear(self, cursor: Any) -> None:
        cursor.execute("TRUNCATE chat_search_words, chat_searchdocument")


word_table: WordTable = Fts5Table() if connection.vendor == "sqlite" else TsvectorTable()
