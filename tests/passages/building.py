"""Requests for tests, built as a send builds them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chat.conversations.turns.prompt import Prompts
from chat.files.passages.best_passages import RankingRequest, rank
from chat.upstream.chat_request import ChatRequest


def built(prompts: Prompts, build: Callable[..., ChatRequest | RankingRequest], *args: Any) -> ChatRequest:
    """Build a request; again with the best passages of documents, if it needs them."""
    made = build(prompts, *args)
    if isinstance(made, RankingRequest):
        made = build(replace(prompts, ranked=rank(made)), *args)
    assert isinstance(made, ChatRequest)
    return made
