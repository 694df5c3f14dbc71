"""Requests for tests, built as a send builds them."""

from collections.abc import Callable
from typing import Any

from chat.files.passages.best_passages import RankingNeeded, rank
from chat.upstream.chat_request import ChatRequest


def built(build: Callable[..., ChatRequest], *args: Any) -> ChatRequest:
    """Build a request; again with the best passages of documents, if it needs them."""
    try:
        return build(*args)
    except RankingNeeded as needed:
        return build(*args, ranked=rank(needed.wanted))
