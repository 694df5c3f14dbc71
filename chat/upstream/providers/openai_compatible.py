"""Requests in OpenAI's API: to providers behind an AI Gateway, the operator's server, and the local model.

https://developers.cloudflare.com/ai-gateway/usage/rest-api/
https://platform.openai.com/docs/api-reference/chat/create
"""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from chat.upstream.chat_request import ChatRequest, messages_for_openai
from chat.upstream.errors import ErrorKind, UpstreamError, gettext_noop

from . import ai_gateway
from .ai_gateway import Gateway
from .workers_ai import Account, Request

DEFAULT_GATEWAY = Gateway("default")  # each account has it; third-party providers need a gateway
# OpenAI's own servers, in all regions and at Azure, reject `max_tokens` for their reasoning models; many
# other servers accept only that name.
OPENAI_HOSTS = ("api.openai.com", ".openai.azure.com")
# Hosts, and providers behind an AI Gateway, that refuse a message with a field of reasoning. All others read
# it or ignore it. https://github.com/BerriAI/litellm/issues/30835
STRICT_HOSTS = ("api.openai.com", ".openai.azure.com", "api.groq.com", "api.mistral.ai", "api.cerebras.ai")
STRICT_PROVIDERS = ("azure-openai", "cerebras", "groq", "mistral")
# Error messages for an endpoint, in place of those that name Cloudflare.
ENDPOINT_SENTENCES = {
    ErrorKind.AUTH: gettext_noop("The model’s server rejected this site’s API key. Tell your administrator."),
    ErrorKind.NOT_PERMITTED: gettext_noop("This site can’t use this model. Choose another one."),
    ErrorKind.UNKNOWN_MODEL: gettext_noop("The model’s server doesn’t offer this model. Choose another one."),
    ErrorKind.QUOTA: gettext_noop("This site’s allowance at the model’s server is used up. Try again later."),
    ErrorKind.BLOCKED: gettext_noop("A filter of the model’s server blocked this. Rephrase your message."),
    ErrorKind.CREDITS: gettext_noop(
        "This site is out of credit at the model’s server. Tell your administrator."
    ),
}
# The values that a model of 135 million parameters needs. With a higher temperature, a stronger penalty or
# the system prompt of its own template, SmolLM2 answers in broken French when asked for the capital of
# France: in 6 of 18 attempts at a temperature of 0.3, in 2 at 0.2, in 1 at 0.1. At 0.1 it still writes a
# different poem each time.
LOCAL_SAMPLING = {"temperature": 0.1, "top_p": 0.9, "repeat_penalty": 1.05}
CANNOT_CALL_TOOLS = gettext_noop(
    "This model can’t be forced to call a tool. Set “tool_choice” to “auto” or choose another model."
)
LOCAL_SYSTEM = {"role": "system", "content": "You are a helpful AI assistant."}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that speaks OpenAI's API. `base_url` precedes `/chat/completions`; `key` may be empty."""

    base_url: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r})"  # without the key, which would end up in tracebacks

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


def gateway_request(
    account: Account, through: Gateway | None, request: ChatRequest, *, stream: bool = True
) -> Request:
    """Build `POST /accounts/<id>/ai/v1/chat/completions`, with a model such as `openai/gpt-5` in the body.

    Dynamic routes and the Auto Router, which choose the provider and the model, exist only on the gateway's
    own host. There `Authorization` would be passed on to the chosen provider.
    https://developers.cloudflare.com/ai-gateway/features/dynamic-routing/usage/
    https://developers.cloudflare.com/ai-gateway/features/auto-router/
    """
    body = body_of(request, "max_completion_tokens", stream=stream)
    sent = ai_gateway.headers(through or DEFAULT_GATEWAY, request, body)
    if request.model.is_route:
        own = "cf-aig-authorization"
        url = f"{account.gateway_base_url}/{account.account_id}/{sent[ai_gateway.GATEWAY_ID]}/compat"
    else:
        own, url = "Authorization", f"{account.base_url}/accounts/{account.account_id}/ai/v1"
    headers = {own: f"Bearer {account.token}", "Accept": "text/event-stream", **sent}
    return Request(f"{url}/chat/completions", headers, body)


def endpoint_request(endpoint: Endpoint, request: ChatRequest, *, stream: bool = True) -> Request:
    """Build the request to the operator's server, without data of the Cloudflare account or of the user."""
    limit = "max_completion_tokens" if endpoint.host.endswith(OPENAI_HOSTS) else "max_tokens"
    headers = {"Accept": "text/event-stream", **endpoint.headers()}
    body = body_of(request, limit, stream=stream, provider=endpoint.host)
    return Request(f"{endpoint.base_url}/chat/completions", headers, body)


def build_local_request(url: str, key: str, request: ChatRequest, *, stream: bool = True) -> Request:
    """Build the request to llama.cpp's server, which speaks OpenAI's API.

    If the last message is the assistant's, the server continues it. It rejects such a request while reasoning
    is enabled, so that is disabled: https://github.com/ggml-org/llama.cpp/pull/15404
    The server's prompt cache makes a conversation's next turn quick.
    """
    _refuse_forced_tools(request)
    messages = messages_for_openai(request.messages, reasoning=request.model.reasoning)
    if messages[0]["role"] != "system":
        messages = [LOCAL_SYSTEM, *messages]
    body = {
        "model": request.model.id,
        "messages": messages,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_tokens,
        **LOCAL_SAMPLING,
        **request.parameters,
        "stream": stream,
    }
    if messages[-1]["role"] == "assistant":
        body["chat_template_kwargs"] = {"enable_thinking": False}
    return Request(f"{url}/v1/chat/completions", {"Authorization": f"Bearer {key}"}, body)


def _refuse_forced_tools(request: ChatRequest) -> None:
    """Raise UpstreamError for a forced tool call if the chat template does not support tools.

    llama.cpp would silently ignore it.
    """
    choice = request.raw_parameters.get("tool_choice")
    if not request.model.tools and (choice == "required" or isinstance(choice, dict)):
        error = UpstreamError(ErrorKind.INVALID, status=400)
        error.message = CANNOT_CALL_TOOLS
        raise error


def body_of(request: ChatRequest, limit: str, *, stream: bool, provider: str = "") -> dict[str, Any]:
    """Return the request body; `limit` is the server's name for the field `max_tokens`.

    `provider`: the server's host, by default the one that the model's id behind a gateway names.
    """
    provider = provider or request.model.id.partition("/")[0]
    body = {
        "model": request.model.id,
        "messages": messages_for_openai(request.messages, reasoning=reads_reasoning(provider)),
        limit: request.max_tokens,
        **request.parameters,
    }
    if stream:  # without a stream the field is not allowed
        body["stream_options"] = {"include_usage": True}
    return body | {"stream": stream}


def reads_reasoning(provider: str) -> bool:
    """Return True unless the host, or the provider of a gateway's model, refuses earlier reasoning."""
    return provider not in STRICT_PROVIDERS and not provider.endswith(STRICT_HOSTS)


def parse_model_ids(body: bytes) -> set[str]:
    """Return the ids in a list of models; empty if the response is no such list."""
    try:
        return {str(model["id"]) for model in json.loads(body)["data"]}
    except (ValueError, RecursionError, LookupError, TypeError):
        return set()
