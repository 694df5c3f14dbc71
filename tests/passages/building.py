"""Requests for tests, built as a send builds them."""

from collections.abc import Callable
from typing import Any

from chat.files.passages.best_passages import RankingRequest, rank
from chat.upstream.chat_request import ChatRequest


def built(build: Callable[..., ChatRequest | RankingRequest], *args: Any) -> ChatRequest:
    """Build a request; again with the best passages of documents, if it needs them."""
    made = build(*args)
    if isinstance(made, RankingRequest):
        made = build(*args, ranked=rank(made))
    assert isinstance(made, ChatRequest)
    return made
