"""Comparison of the index with the stored texts, for a site whose servers are stopped."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from chat.models import Conversation, Message, SearchDocument

from .database import engine
from .document import Document
from .index import title_of

VERIFIED_DOCUMENTS = 200  # documents compared at once

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
    indexed = engine.IndexedWords()
    for batch in _batches():
        documents = _documents(batch)
        found.stale += len(batch) - len(documents)
        found.different += indexed.different([each.pk for each in batch], documents)
        progress(len(batch))
    found.stale += indexed.without_document()
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
