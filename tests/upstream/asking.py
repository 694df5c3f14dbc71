"""Ask the fake through the client, and keep all that came back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from chat.upstream.catalog import Catalog, LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Account, Client, Gateway, Timeouts
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.routing.rate_limiter import RateLimiter
from chat.upstream.routing.routed_request import RetryPolicy
from chat.upstream.routing.router import Router
from tests.fake_cloudflare.server import TOKEN, Fake, WorkersAI, running

MODEL = LlmModel("@cf/zai-org/glm-4.7-flash", "GLM", window=131_072)
THINKER = LlmModel("@cf/qwen/qwq-32b", "QwQ", window=24_000, inline_reasoning=True)
PATIENT = Timeouts()
QUICK = RetryPolicy(base_delay=0.02)


@dataclass
class Reply:
    stream: CompletionStream | None = None  # of the last attempt
    text: str = ""
    reasoning: str = ""
    deltas: int = 0
    error: UpstreamError | None = None

    @property
    def kind(self) -> ErrorKind | None:
        return self.error and self.error.kind


def account(fake: Fake) -> Account:
    return Account("acc", TOKEN, fake.base_url, f"{fake.url}/v1")


@asynccontextmanager
async def client(
    fake: Fake, *, timeouts: Timeouts = PATIENT, read_interval: float = 0.01, gateway: Gateway | None = None
) -> AsyncIterator[Client]:
    made = Client(account(fake), None, gateway=gateway, timeouts=timeouts, read_interval=read_interval)
    try:
        yield made
    finally:
        await made.aclose()


@asynccontextmanager
async def with_fake(token: str = TOKEN) -> AsyncIterator[tuple[Client, WorkersAI]]:
    """A client of an account, and its Cloudflare in the same event loop."""
    async with running() as fake:
        made = Client(Account("acc", token, fake.base_url), None)
        try:
            yield made, fake
        finally:
            await made.aclose()


async def ask(
    made: Client | Fake,
    question: str,
    model: LlmModel = MODEL,
    *,
    max_tokens: int = 500,
    retries: RetryPolicy = QUICK,
    **more: Any,
) -> Reply:
    """Through a router of its own, which retries. `more` are further fields of the `ChatRequest`.

    Of a fake, it is asked by a client of its own.
    """
    if isinstance(made, Fake):
        async with client(made) as opened:
            return await ask(opened, question, model, max_tokens=max_tokens, retries=retries, **more)
    messages = [{"role": "user", "content": question}]
    router = Router(
        made, lambda: Catalog([model], model.id), RateLimiter(10_000, 10_000), retry_policy=retries
    )
    reply = Reply()
    routed = router.stream(ChatRequest(messages, model, max_tokens, **more))
    try:
        async with routed as stream:
            async for delta in stream:
                reply.text += delta.text
                reply.reasoning += delta.reasoning
                reply.deltas += 1
    except UpstreamError as error:
        reply.error = error
    reply.stream = routed.attempt
    return reply


def runs(fake: Fake) -> list[dict[str, Any]]:
    """The calls that asked a model."""
    return [call for call in fake.calls if "/ai/run/" in call["path"] or "/chat/" in call["path"]]
