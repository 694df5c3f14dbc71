"""Models that speak OpenAI's API: other providers' behind an AI Gateway, and any server's of that kind.

https://developers.cloudflare.com/ai-gateway/usage/rest-api/
https://platform.openai.com/docs/api-reference/chat/create
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import ErrorKind, gettext_noop

from . import ai_gateway
from .ai_gateway import Gateway
from .workers_ai import Account, Request

DEFAULT_GATEWAY = Gateway("default")  # each account has it; other providers are asked through no other way
# OpenAI's own server refuses `max_tokens` for the models that think; many others know nothing else.
OPENAI = "api.openai.com"
# In place of the sentences that name Cloudflare.
SENTENCES = {
    ErrorKind.AUTH: gettext_noop(
        "The model’s server does not accept this site’s key. Tell whoever runs the site."
    ),
    ErrorKind.NOT_PERMITTED: gettext_noop("This site may not use this model. Choose another one."),
    ErrorKind.UNKNOWN_MODEL: gettext_noop(
        "The model’s server does not have this model, or no longer. Choose another one."
    ),
    ErrorKind.QUOTA: gettext_noop("This site’s allowance at the model’s server is used up. Try again later."),
    ErrorKind.BLOCKED: gettext_noop("A filter of the model’s server stopped this. Say it in other words."),
    ErrorKind.CREDITS: gettext_noop(
        "This site has no credit left at the model’s server. Tell whoever runs the site."
    ),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server of OpenAI's API. `base_url` is what stands before `/chat/completions`; some need no key."""

    base_url: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r})"  # a key in a traceback is a key lost

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


def gateway_request(
    account: Account, through: Gateway | None, ask: ChatRequest, *, stream: bool = True
) -> Request:
    """`POST /accounts/<id>/ai/v1/chat/completions`, with a model such as `openai/gpt-5` in the body."""
    body = body_of(ask, "max_completion_tokens", stream=stream)
    headers = {"Authorization": f"Bearer {account.token}", "Accept": "text/event-stream"}
    headers |= ai_gateway.headers(through or DEFAULT_GATEWAY, ask, body)
    return Request(f"{account.base_url}/accounts/{account.account_id}/ai/v1/chat/completions", headers, body)


def endpoint_request(endpoint: Endpoint, ask: ChatRequest, *, stream: bool = True) -> Request:
    """Nothing of the account is in it, nor of who asks."""
    limit = "max_completion_tokens" if endpoint.host == OPENAI else "max_tokens"
    headers = {"Accept": "text/event-stream", **endpoint.headers()}
    return Request(f"{endpoint.base_url}/chat/completions", headers, body_of(ask, limit, stream=stream))


def body_of(ask: ChatRequest, limit: str, *, stream: bool) -> dict[str, Any]:
    """`limit` is the name under which the server knows `max_tokens`."""
    body = {"model": ask.model.id, "messages": ask.messages, limit: ask.max_tokens, **ask.parameters}
    if stream:  # else it must not stand there
        body["stream_options"] = {"include_usage": True}
    return body | {"stream": stream}


def parse_model_ids(answer: httpx.Response) -> set[str]:
    """The names in a list of models; nothing, where it is none."""
    try:
        return {str(model["id"]) for model in answer.json()["data"]}
    except (ValueError, LookupError, TypeError):
        return set()
