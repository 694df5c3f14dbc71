"""AI Search of the fake: its instances, what they found, and what Cloudflare refuses.

https://developers.cloudflare.com/ai-search/api/search/rest-api/
https://developers.cloudflare.com/ai-search/troubleshooting/api-error-codes/
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tests.fake_cloudflare import frames
from tests.fake_cloudflare.errors import error
from tests.fake_cloudflare.run import Run, scenario

Body = dict[str, Any]
Response = tuple[int, object]
PATH = re.compile(
    r"/client/v4/accounts/[^/]+/ai-search/namespaces/([^/]+)/instances/([^/]+)/(search|chat/completions)"
)
NO_PERMISSION = "fake-token-without-ai-search"  # a token for everything but AI Search
NAMESPACES = {"default": {"handbook", "empty", "web"}, "team": {"handbook"}}
FIELDS = {
    "chat/completions": {"messages", "model", "stream", "ai_search_options"},
    "search": {"messages", "query", "ai_search_options"},
}
ROLES = ("system", "developer", "user", "assistant", "tool")
MODEL = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"


def chunk(number: int, key: str, score: float, text: str) -> Body:
    return {
        "id": f"chunk-{number:03}",
        "type": "text",
        "score": score,
        "text": text,
        "item": {"key": key, "timestamp": 1775925540000},
        "scoring_details": {"vector_score": score},
    }


HANDBOOK = [
    chunk(1, "handbook/holidays.md", 0.85, "Everybody has 30 days of holiday a year."),
    chunk(
        2, "https://intranet.example/rules?page=2", 0.8, "Ask for holidays two weeks before.\n\n- in writing"
    ),
    chunk(3, "handbook/holidays.md", 0.6, "Days that are left end on 31 March. <b>No exceptions.</b>"),
]
# Passages of hostile pages of the web.
WEB = [
    chunk(1, "javascript:alert(1)", 0.9, "<img src=x onerror=alert(1)>"),
    chunk(
        2, 'https://evil.example/"><script>alert(1)</script>', 0.8, "</blockquote><script>alert(1)</script>"
    ),
    chunk(
        3, "https://web.example/page", 0.7, "![x](https://web.example/pixel.png) [here](javascript:alert(1))"
    ),
]
FOUND = {"handbook": HANDBOOK, "empty": [], "web": WEB}


def refusal(namespace: str, name: str, call: str, token: str, body: object) -> Response | None:
    """Return the response to a call that Cloudflare would refuse; None where it would not."""
    if token == NO_PERMISSION:
        return error(10000, 403)
    if namespace not in NAMESPACES:
        return error(7063)
    if name not in NAMESPACES[namespace]:
        return error(7002)
    if not isinstance(body, dict):
        return error(7001, 400, "Input Validation Error")
    return next(_invalid(call, body), None)


def _invalid(call: str, body: Body) -> Iterator[Response]:
    for name in body.keys() - FIELDS[call]:
        yield error(7001, 400, f"Input Validation Error: unrecognized key {name!r}")
    messages = body.get("messages", [])
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in messages):
        yield error(7001, 400, "Input Validation Error: messages")
        return
    for each in messages:
        if each.get("role") not in ROLES or not isinstance(each.get("content"), str | list | None):
            yield error(7001, 400, "Input Validation Error: messages")
    if not isinstance(body.get("stream", False), bool):
        yield error(7001, 400, "Input Validation Error: stream")
    has_question = any(each.get("role") == "user" and each.get("content") for each in messages)
    if not has_question and not (call == "search" and body.get("query")):
        yield error(7039 if call == "search" else 7038)


def before(name: str) -> bytes:
    """The event that comes before the text in a stream."""
    return b"event: chunks\n" + frames.frame(FOUND[name])


@scenario
async def ai_search(run: Run, tokens: int = 0, text: str = "", delay: float = 0.0) -> None:
    """A reply as AI Search streams it: no finish reason and no usage, only `[DONE]`."""
    await run.send(_frames(run.tokens(tokens, text)), delay)


def _frames(tokens: Iterable[object]) -> Iterator[bytes]:
    head = {"id": "id-1776072781845", "created": 1776072781, "model": MODEL}
    for token in tokens:
        choice = {"index": 0, "delta": {"content": token}}
        yield frames.frame(head | {"object": "chat.completion.chunk", "choices": [choice]})
    yield frames.DONE
