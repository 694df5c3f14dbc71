"""Comparison of the index with the stored texts, for a site whose servers are stopped."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Exists, OuterRef

from chat.models import Conversation, Message, SearchDocument

from .expression import tsvector
from .index import Document, title_of

VERIFIED_DOCUMENTS = 200  # documents compared at once
# https://www.sqlite.org/fts5.html#the_fts5vocab_virtual_table_module: a row for each word in each document
VOCABULARY = (
    "CREATE VIRTUAL TABLE temp.search_vocabulary USING fts5vocab('main', 'chat_search_words', 'instance')"
)
DIFFERENT_SQL = """
SELECT expected.id FROM unnest(%s::bigint[], %s::text[]) AS expected (id, words)
LEFT JOIN chat_search_words indexed ON indexed.id = expected.id
WHERE indexed.words IS DISTINCT FROM expected.words::tsvector
"""
WITHOUT_DOCUMENT = """
SELECT COUNT(*) FROM chat_search_words w
WHERE NOT EXISTS (SELECT 1 FROM chat_searchdocument d WHERE d.id = w.id)
"""

Progress = Callable[[int], None]


@dataclass(slots=True)
class Differences:
    """The numbers of faults found in the index.

    `missing`: texts without a document; `stale`: documents without a text; `different`: documents whose words
    are not those of their text.
    """

    missing: int = 0
    stale: int = 0
    different: int = 0

    @property
    def total(self) -> int:
        return self.missing + self.stale + self.different


def verify(progress: Progress = lambda _: None) -> Differences:
    """Compare the whole index. `progress` is called with the number of documents of each batch."""
    found = Differences(missing=_missing())
    check = _SqliteWords() if connection.vendor == "sqlite" else _PostgresWords()
    for batch in _batches():
        documents = _documents(batch)
        found.stale += len(batch) - len(documents)
        found.different += check.different([each.pk for each in batch], documents)
        progress(len(batch))
    found.stale += check.without_document()
    return found


def _missing() -> int:
    of_message = SearchDocument.objects.filter(message=OuterRef("pk"))
    of_title = SearchDocument.objects.filter(conversation=OuterRef("pk"))
    messages = Message.objects.filter(~Exists(of_message)).exclude(text="").count()
    return messages + Conversation.objects.filter(~Exists(of_title)).count()


def _batches() -> Iterator[list[SearchDocument]]:
    last = 0
    while batch := list(SearchDocument.objects.filter(pk__gt=last).order_by("pk")[:VERIFIED_DOCUMENTS]):
        yield batch
        last = batch[-1].pk


def _documents(batch: Sequence[SearchDocument]) -> dict[int, Document]:
    """Return {id: document as it should be indexed}, without documents whose text no longer exists."""
    messages = Message.objects.exclude(text="").filter(
        pk__in=[each.message for each in batch if each.message]
    )
    owners = messages.values_list("conversation__user_id", "pk", "text")
    titled = Conversation.objects.filter(pk__in=[each.conversation for each in batch if each.conversation])
    texts = [Document(owner, text, message=key) for owner, key, text in owners]
    by_key = {document.message: document for document in texts}
    by_key |= {conversation.pk: title_of(conversation) for conversation in titled}
    keys = {each.pk: each.message or each.conversation for each in batch}
    return {key: by_key[of] for key, of in keys.items() if of in by_key}


class _SqliteWords:
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
        sums = {key: self._sums.pop(key, 0) for key in keys}
        return sum(sums[key] != _sum(document) for key, document in documents.items())

    def without_document(self) -> int:
        return len(self._sums)


def _sum(document: Document) -> int:
    return sum(hash((word, place)) for place, word in enumerate(document.words))


class _PostgresWords:
    def different(self, keys: Sequence[int], documents: dict[int, Document]) -> int:
        with connection.cursor() as cursor:
            vectors = [tsvector(document.words) for document in documents.values()]
            cursor.execute(DIFFERENT_SQL, [list(documents), vectors])
            return len(cursor.fetchall())

    def without_document(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute(WITHOUT_DOCUMENT)
            return int(cursor.fetchone()[0])
