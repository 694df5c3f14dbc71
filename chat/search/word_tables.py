"""The table of the indexed words: FTS5 on SQLite, a column `tsvector` on PostgreSQL.

FTS5 keeps no text, so it deletes the words of a document only when they are named once more.
"""

import uuid
from collections.abc import Sequence
from typing import Any, Protocol

from django.db import connection

from .expression import tsvector


class HasWords(Protocol):
    """The text of a SearchDocument, which computes its words when they are asked for."""

    @property
    def owner(self) -> int: ...
    @property
    def message(self) -> uuid.UUID | None: ...
    @property
    def conversation(self) -> uuid.UUID | None: ...
    @property
    def words(self) -> list[str]: ...


class WordTable(Protocol):
    """The operations of the index on its database."""

    def add_documents(self, cursor: Any, documents: Sequence[HasWords]) -> None:
        """Insert documents and their words, without those that are there."""

    def add_all(self, cursor: Any, keys: Sequence[int], documents: Sequence[HasWords]) -> None:
        """Insert the words of these documents, whose rows are there."""

    def change(self, cursor: Any, key: int, former: HasWords, document: HasWords) -> None: ...

    def delete(self, cursor: Any, key: int, document: HasWords) -> None: ...

    def clear(self, cursor: Any) -> None:
        """Delete all documents and all words."""


class Fts5Table:
    ADD_DOCUMENTS = """
INSERT INTO chat_searchdocument (owner, message, conversation) VALUES {rows}
ON CONFLICT DO NOTHING RETURNING id, COALESCE(message, conversation)
"""
    ADD = "INSERT INTO chat_search_words (rowid, words) VALUES (%s, %s)"
    DELETE = "INSERT INTO chat_search_words (chat_search_words, rowid, words) VALUES ('delete', %s, %s)"

    def add_documents(self, cursor: Any, documents: Sequence[HasWords]) -> None:
        by_key = {_to_db(each.message or each.conversation): each for each in documents}
        row = "(%s, %s, %s)"
        columns = [
            value
            for each in documents
            for value in (each.owner, _to_db(each.message), _to_db(each.conversation))
        ]
        cursor.execute(self.ADD_DOCUMENTS.format(rows=", ".join([row] * len(documents))), columns)
        added = cursor.fetchall()
        self.add_all(cursor, [key for key, _ in added], [by_key[subject] for _, subject in added])

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
    ADD_ALL = """
INSERT INTO chat_search_words (id, words)
SELECT added.id, added.words::tsvector FROM unnest(%s::bigint[], %s::text[]) AS added (id, words)
"""
    CHANGE = "UPDATE chat_search_words SET words = %s::tsvector WHERE id = %s"
    DELETE = "DELETE FROM chat_search_words WHERE id = %s"

    def add_documents(self, cursor: Any, documents: Sequence[HasWords]) -> None:
        rows = ((each.owner, each.message, each.conversation, tsvector(each.words)) for each in documents)
        cursor.execute(self.ADD_DOCUMENTS, [list(column) for column in zip(*rows, strict=True)])

    def add_all(self, cursor: Any, keys: Sequence[int], documents: Sequence[HasWords]) -> None:
        cursor.execute(self.ADD_ALL, [list(keys), [tsvector(document.words) for document in documents]])

    def change(self, cursor: Any, key: int, former: HasWords, document: HasWords) -> None:
        cursor.execute(self.CHANGE, [tsvector(document.words), key])

    def delete(self, cursor: Any, key: int, document: HasWords) -> None:
        cursor.execute(self.DELETE, [key])

    def clear(self, cursor: Any) -> None:
        cursor.execute("TRUNCATE chat_search_words, chat_searchdocument")


def _to_db(key: uuid.UUID | None) -> str | None:
    """Return a key as SQLite stores it."""
    return key.hex if key else None


word_table: WordTable = Fts5Table() if connection.vendor == "sqlite" else TsvectorTable()
