"""What is sent for one reply, to Workers AI or to the local model: an address, headers, a body."""

from dataclasses import dataclass
from typing import Any

from .catalogue import Model

# What a model of 135 million parameters needs to stay pleasant. Hotter, or with a stronger penalty, or with
# its template's own system prompt, SmolLM2 names the capital of France in broken French.
LOCAL_SAMPLING = {"temperature": 0.3, "top_p": 0.9, "repeat_penalty": 1.05}
LOCAL_SYSTEM = {"role": "system", "content": "You are a helpful AI assistant."}


@dataclass(frozen=True, slots=True)
class Account:
    """A Cloudflare account. `base_url` ends with `/client/v4`."""

    account_id: str
    token: str
    base_url: str

    def __repr__(self) -> str:
        return f"Account({self.account_id!r})"  # a token in a traceback is a token lost


@dataclass(frozen=True, slots=True)
class Request:
    """`body` without `stream`, which is the reply's own matter."""

    url: str
    headers: dict[str, str]
    body: dict[str, Any]


def to_workers_ai(
    account: Account, messages: list[dict[str, str]], model: Model, max_tokens: int, affinity: str
) -> Request:
    """`POST /accounts/<id>/ai/run/<model>`. The default of `max_tokens` is 256, so it is always written.

    `affinity` leads a conversation to the machine that has read its beginning already.
    """
    headers = {"Authorization": f"Bearer {account.token}", "Accept": "text/event-stream"}
    if affinity:
        headers["x-session-affinity"] = affinity
    url = f"{account.base_url}/accounts/{account.account_id}/ai/run/{model.id}"
    return Request(url, headers, {"messages": messages, "max_tokens": max_tokens})


def to_local(url: str, key: str, messages: list[dict[str, str]], model: Model, max_tokens: int) -> Request:
    """llama.cpp's server speaks OpenAI's API. Its prompt cache makes a conversation's next turn quick.

    It goes on with a last message that is the model's own, and refuses that to a model which may think first:
    https://github.com/ggml-org/llama.cpp/pull/15404
    """
    if messages[0]["role"] != "system":
        messages = [LOCAL_SYSTEM, *messages]
    body = {
        "model": model.id,
        "messages": messages,
        "stream_options": {"include_usage": True},
        "max_tokens": max_tokens,
        **LOCAL_SAMPLING,
    }
    if messages[-1]["role"] == "assistant":
        body["chat_template_kwargs"] = {"enable_thinking": False}
    return Request(f"{url}/v1/chat/completions", {"Authorization": f"Bearer {key}"}, body)
