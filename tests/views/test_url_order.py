"""The order of the URL patterns: an open request keeps the patterns that were tried before its own."""

import uuid

import pytest
from django.urls import resolve

STREAMS = ("/runs/{}/stream/", "/c/", "/c/{}/messages/", "/messages/{}/edit/", "/messages/{}/regenerate/")


@pytest.mark.parametrize("path", STREAMS)
def test_a_stream_matches_one_of_the_first_patterns(path: str) -> None:
    match = resolve(path.format(uuid.uuid4()))
    assert match.tried is not None
    assert len(match.tried) <= 25
