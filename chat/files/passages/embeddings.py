"""The stored embeddings of documents: what is missing, its storage, and the similarity to a question."""

import math
import struct
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

from django.db import IntegrityError, transaction
from django.db.models import Q

from chat.db.executor import write_lock
from chat.models import Attachment, PassageVectors

from .pages import TEXT_COLUMNS, DocumentPassage, all_pages, columns_of, key_of, split

Vector = Sequence[float]
MAX_INT8 = 127
SCALE = struct.Struct("<f")


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
    """Return the batches of `size` passages of a document that is not embedded, the first passages last.

    Also those that are stored: for another person, or of an attempt that was broken off. Reads the document.
    """
    if not without([document], model):
        return []
    texts = [one.text for page in all_pages([document])[key_of(document)] for one in split(page)]
    starts = reversed(range(0, len(texts), size))
    return [PassageBatch(document, at, tuple(texts[at : at + size])) for at in starts]


def store_vectors(batch: PassageBatch, model: str, found: Sequence[Vector]) -> bool:
    """Store the embeddings of a batch; with those of the first passages, the document is embedded.

    Return False if the document was deleted meanwhile.
    """
    row = PassageVectors(
        **columns_of(batch.document),
        model=model,
        start=batch.start,
        count=len(found),
        vectors=b"".join(map(packed, found)),
    )
    try:
        with write_lock(), transaction.atomic():
            PassageVectors.objects.bulk_create([row], ignore_conflicts=True)
            if batch.start == 0:
                Attachment.objects.filter(_same(batch.document)).update(embedded=model)
    except IntegrityError:
        return False
    return True


def without(documents: Sequence[Attachment], model: str) -> list[Attachment]:
    """Return the documents that are not embedded: none of their owner's with the same text is. One query."""
    wanted = Q(pk__in=())
    for each in documents:
        wanted |= _same(each)
    rows = Attachment.objects.filter(wanted, embedded=model)
    having = set(rows.values_list("owner_id", *TEXT_COLUMNS))
    return [each for each in documents if (each.owner_id, *key_of(each)) not in having]


def _same(document: Attachment) -> Q:
    return Q(owner=document.owner_id, **columns_of(document))


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
    rows = PassageVectors.objects.filter(**columns_of(document), model=question.model).order_by("start")
    for start, count, vectors in rows.values_list("start", "count", "vectors").iterator():
        if start != len(found):
            break
        found += similarities(bytes(vectors), count, question.vector)
    return found


def packed(vector: Sequence[float]) -> bytes:
    """Return the vector in its stored form: a byte for each dimension, and a float that makes its length 1.

    A thousand dimensions take a kilobyte instead of eight, and a comparison is a dot product of small
    integers: 5,000 passages take 0.2 s of CPU time. The rounding moves a cosine by less than 0.01.
    """
    whole = _whole(vector)
    length = math.sqrt(sum(map(mul, whole, whole)))
    return SCALE.pack(1 / length if length else 0.0) + struct.pack(f"{len(whole)}b", *whole)


def similarities(stored: bytes, count: int, vector: Sequence[float]) -> list[float]:
    """Return how similar `vector` is to each of the `count` vectors in `stored`; [] if they do not compare.

    The numbers grow with the cosine.
    """
    width = SCALE.size + len(vector)
    if len(stored) != count * width:
        return []
    whole = _whole(vector)
    view = memoryview(stored)
    found = []
    for start in range(0, len(stored), width):
        [scale] = SCALE.unpack_from(stored, start)
        found.append(scale * sum(map(mul, whole, view[start + SCALE.size : start + width].cast("b"))))
    return found


def _whole(vector: Sequence[float]) -> list[int]:
    largest = max(map(abs, vector), default=0.0)
    return [round(value / largest * MAX_INT8) for value in vector] if largest else [0] * len(vector)
