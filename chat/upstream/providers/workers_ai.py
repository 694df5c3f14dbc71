"""The HTTP request for a reply of Workers AI; what an account and a request are for all providers."""

from dataclasses import dataclass
from typing import Any

from chat.upstream.chat_request import ChatRequest, messages_for_workers_ai

from . import ai_gateway
from .ai_gateway import Gateway


@dataclass(frozen=True, slots=True)
class Account:
    """A Cloudflare account. `base_url` ends with `/client/v4`, `gateway_base_url` with `/v1`."""

    account_id: str
    token: str
    base_url: str
    gateway_base_url: str = "https://gateway.ai.cloudflare.com/v1"

    def __repr__(self) -> str:
        return f"Account({self.account_id!r})"  # without the token, which would end up in tracebacks


@dataclass(frozen=True, slots=True)
class Request:
    url: str
    headers: dict[str, str]
    body: dict[str, Any]


def build_request(
    account: Account, through: Gateway | None, request: ChatRequest, *, stream: bool = True
) -> Request:
    """Build `POST /accounts/<id>/ai/run/<model>`. `max_tokens` is always sent, because its default is 256.

    A gateway needs only additional headers; without `cf-aig-gateway-id` the request uses none.
    """
    body = {
        **_prompt_fields(request),
        "max_tokens": request.max_tokens,
        **request.parameters,
        "stream": stream,
    }
    headers = {"Authorization": f"Bearer {account.token}", "Accept": "text/event-stream"}
    if request.session_affinity:
        headers["x-session-affinity"] = request.session_affinity
    if through or request.gateway:
        through = through or Gateway(request.gateway[ai_gateway.GATEWAY_ID])
        headers |= ai_gateway.headers(through, request, body)
    url = f"{account.base_url}/accounts/{account.account_id}/ai/run/{request.model.address}"
    return Request(url, headers, body)


def _prompt_fields(request: ChatRequest) -> dict[str, Any]:
    return (
        {"prompt": request.messages[0]["content"], "raw": True}
        if request.raw
        else {"messages": messages_for_workers_ai(request.messages, request.model)}
    )
