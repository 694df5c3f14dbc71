"""Search for a model that cannot call tools: it writes queries, and gets the results with the question."""

import re
from dataclasses import replace

from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import UpstreamError
from chat.upstream.pictures import with_text
from chat.upstream.routing.router import Router
from chat.wire.usage import Usage

MAX_QUERIES = 3
MAX_QUERY_CHARS = 200
QUERY_TOKENS = 200
INSTRUCTION = (
    "Do not answer yet. Which search queries would find what you need for an answer? Write at most three, one"
    " on each line, a few words each, and nothing else. If no search is needed, write NONE."
)
_MARKS = re.compile(r"^[\s\d.)*•-]+|[\"“”„«»'`]")


async def write_queries(router: Router, request: ChatRequest) -> tuple[list[str], Usage | None]:
    """Ask the model for search queries. Return them, none if it needs none, and the usage.

    If the request fails, there are none: the reply's own request then fails in the same way, or succeeds.
    """
    *before, last = request.messages
    asked = replace(
        request,
        messages=[*before, with_text(last, INSTRUCTION)],
        max_tokens=min(QUERY_TOKENS, request.max_tokens),
    )
    text = ""
    try:
        async with router.stream(asked, allow_fallback=False) as stream:
            async for delta in stream:
                text += delta.text
    except UpstreamError:
        return [], None
    return queries_of(text), stream.usage


def queries_of(text: str) -> list[str]:
    """Return the queries in a model's text, each once, without numbers, bullets and quotation marks."""
    lines = (_MARKS.sub("", line).strip() for line in text.splitlines())
    found = [line[:MAX_QUERY_CHARS] for line in lines if line]
    if not found or found[0].upper().rstrip(".") == "NONE":
        return []
    return list(dict.fromkeys(found))[:MAX_QUERIES]
