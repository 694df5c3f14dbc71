"""Dynamic routes and the Auto Router of an AI Gateway, which choose the provider and the model.

They exist only on the gateway's own host, and need the token in the header `cf-aig-authorization`:
`Authorization` would be passed on to the chosen provider.

https://developers.cloudflare.com/ai-gateway/features/dynamic-routing/usage/
https://developers.cloudflare.com/ai-gateway/features/auto-router/
"""

from chat.upstream.chat_request import ChatRequest

from . import ai_gateway
from .ai_gateway import Gateway
from .openai_compatible import DEFAULT_GATEWAY, body_of
from .workers_ai import Account, Request


def route_request(
    account: Account, through: Gateway | None, request: ChatRequest, *, stream: bool = True
) -> Request:
    """Build `POST /v1/<account>/<gateway>/compat/chat/completions`, with `dynamic/<route>` as the model."""
    through = through or DEFAULT_GATEWAY
    body = body_of(request, "max_completion_tokens", stream=stream)
    headers = {"cf-aig-authorization": f"Bearer {account.token}", "Accept": "text/event-stream"}
    headers |= ai_gateway.headers(through, request, body)
    base = f"{account.gateway_base_url}/{account.account_id}/{headers[ai_gateway.GATEWAY_ID]}"
    return Request(f"{base}/compat/chat/completions", headers, body)
