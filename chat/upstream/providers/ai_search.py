"""Requests to AI Search (formerly AutoRAG): models that answer from the documents of one of its instances.

https://developers.cloudflare.com/ai-search/api/search/rest-api/
"""

from typing import Any

from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.chat_request import ChatRequest, messages_for_openai
from chat.upstream.errors import ErrorKind, gettext_noop

from .workers_ai import Account, Request

MODEL_ID_PREFIX = "ai-search/"  # of the ids of these models
DEFAULT_NAMESPACE = "default"  # each account has it
# The default model of an instance has the smallest window of all that it may use: 24,000 tokens. The
# passages need a part of it: by default 10 of at most 512 tokens each, with the prompt that presents them.
# https://developers.cloudflare.com/ai-search/configuration/models/supported-models/
SEARCH_WINDOW_TOKENS = 16_000
# Error messages for AI Search, in place of those that name a model.
SEARCH_SENTENCES = {
    ErrorKind.AUTH: gettext_noop("AI Search rejected an API token of this site. Tell your administrator."),
    ErrorKind.NOT_PERMITTED: gettext_noop("This site may not use AI Search. Tell your administrator."),
    ErrorKind.UNKNOWN_MODEL: gettext_noop("These documents aren’t available any more. Choose another model."),
}


def model_of(address: str, name: str) -> LlmModel:
    """Return the model of an instance. `address`: its name, after its namespace and "/" unless default."""
    return LlmModel(MODEL_ID_PREFIX + address, name, SEARCH_WINDOW_TOKENS, host=Provider.AI_SEARCH)


def instance_path(account: Account, model: str) -> str:
    """Return the path of the instance of a model's id, below `/client/v4`."""
    namespace, _, name = model.removeprefix(MODEL_ID_PREFIX).rpartition("/")
    search = f"/accounts/{account.account_id}/ai-search"
    return f"{search}/namespaces/{namespace or DEFAULT_NAMESPACE}/instances/{name}"


def search_request(account: Account, request: ChatRequest, *, stream: bool = True) -> Request:
    """Build `POST …/instances/<name>/chat/completions`.

    It takes the messages and options of the search, and no parameters of a model: these, the generation model
    and its gateway are set in the instance. A system prompt replaces the one that is set there.
    """
    messages = messages_for_openai(request.messages, reasoning=False)
    body: dict[str, Any] = {"messages": messages, "stream": stream}
    headers = {"Authorization": f"Bearer {account.token}", "Accept": "text/event-stream"}
    path = instance_path(account, request.model.id)
    return Request(f"{account.base_url}{path}/chat/completions", headers, body)
