"""The HTTP requests for one reply, to Workers AI or to the local model."""

from dataclasses import dataclass
from typing import Any

from chat.upstream.chat_request import ChatRequest, messages_for_openai, messages_for_workers_ai
from chat.upstream.errors import ErrorKind, UpstreamError, gettext_noop

from . import ai_gateway
from .ai_gateway import Gateway

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
