"""The stored embeddings of documents: what is missing, its storage, and the similarity to a question."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, models

from chat.db import write_lock
from chat.models import Attachment, PassageVectors

from .pages import all_pages, key_of
from .passages import DocumentPassage, split
from .vectors import packed, similarities

Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class PassageBatch:
    """Passages of a document that one request embeds; `start` is the number of the first."""

    document: Attachment
    start: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """The embedding of the latest question, by `model`."""

    model: str
    vector: Vector


def missing(document: Attachment, model: str, size: int) -> list[PassageBatch]:
    """Return the batches of `size` passages that have no embeddings yet, the first passages last.

    So a document whose first passages have embeddings has all of them. Reads the document.
    """
    texts = [one.text for page in all_pages([document])[key_of(document)] for one in split(page)]
    stored = set(_rows(document, model).values_list("start", flat=True))
    starts = reversed(range(0, len(texts), size))
    return [PassageBatch(document, at, tuple(texts[at : at + size])) for at in starts if at not in stored]


def store(batch: PassageBatch, model: str, found: Sequence[Vector]) -> bool:
    """Store the embeddings of a batch. Return False if the document was deleted meanwhile."""
    sha256, media_type = key_of(batch.document)
    row = PassageVectors(
        file_id=sha256,
        media_type=media_type,
        model=model,
        start=batch.start,
        count=len(found),
        vectors=b"".join(map(packed, found)),
    )
    try:
        with write_lock():
            PassageVectors.objects.bulk_create([row], ignore_conflicts=True)
    except IntegrityError:
        return False
    return True


def without(documents: Sequence[Attachment], model: str) -> list[Attachment]:
    """Return the documents that lack embeddings. One query."""
    keys = [key_of(each) for each in documents]
    rows = PassageVectors.objects.filter(model=model, file__in=[sha256 for sha256, _type in keys], start=0)
    having = set(rows.values_list("file_id", "media_type"))
    return [each for each in documents if key_of(each) not in having]


def compared(
    passages: Sequence[tuple[Attachment, DocumentPassage]], question: QuestionVector
) -> list[float] | None:
    """Return how similar each passage is to the question; None if one has no embedding.

    `passages`: all of each document, in their order.
    """
    found: list[float] = []
    documents: dict[uuid.UUID, Attachment] = {each.pk: each for each, _passage in passages}
    for document in documents.values():
        expected = sum(each.pk == document.pk for each, _passage in passages)
        own = _similarities(document, question)
        if len(own) != expected:
            return None
        found += own
    return found


def _similarities(document: Attachment, question: QuestionVector) -> list[float]:
    """Return the similarities of the document's passages up to the first one without an embedding."""
    found: list[float] = []
    rows = _rows(document, question.model).order_by("start").values_list("start", "count", "vectors")
    for start, count, vectors in rows.iterator():
        if start != len(found):
            break
        found += similarities(bytes(vectors), count, question.vector)
    return found


def _rows(document: Attachment, model: str) -> "models.QuerySet[PassageVectors]":
    sha256, media_type = key_of(document)
    return PassageVectors.objects.filter(file=sha256, media_type=media_type, model=model)
