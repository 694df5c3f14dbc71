"""Embeddings as bytes compare as the vectors do, nearly."""

import math
import random

import pytest

from chat.files.passages.embeddings import packed, similarities


def some(count: int, dimensions: int = 1_024) -> list[list[float]]:
    chance = random.Random(1)
    return [[chance.gauss(0, 1) for _ in range(dimensions)] for _ in range(count)]


def cosine(one: list[float], other: list[float]) -> float:
    lengths = math.dist(one, [0.0] * len(one)) * math.dist(other, [0.0] * len(other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths


def test_bytes_compare_as_their_vectors_do() -> None:
    vectors = some(20)
    question = [a + b for a, b in zip(vectors[7], some(21)[20], strict=True)]
    found = similarities(b"".join(map(packed, vectors)), len(vectors), question)
    exact = [cosine(each, question) for each in vectors]
    assert max(range(20), key=found.__getitem__) == 7
    unit = found[7] / exact[7]  # the question's own length is left out
    assert all(abs(one / unit - other) < 0.01 for one, other in zip(found, exact, strict=True))


def test_a_vector_takes_a_byte_for_each_dimension() -> None:
    assert len(packed(some(1)[0])) == 1_024 + 4


@pytest.mark.parametrize("count", [0, 1, 3])
def test_vectors_of_another_form_do_not_compare(count: int) -> None:
    assert similarities(b"".join(map(packed, some(2))), count, some(1)[0]) == []
    assert similarities(b"".join(map(packed, some(2, 768))), 2, some(1)[0]) == []


def test_a_vector_of_zeros_is_like_nothing() -> None:
    assert similarities(packed([0.0] * 8), 1, [1.0] * 8) == [0.0]
    assert similarities(packed([1.0] * 8), 1, [0.0] * 8) == [0.0]
