"""A request for one reply, independent of the provider, and what each kind of server reads differently.

Some want fields of earlier messages back that others refuse: Gemini wants `extra_content`, DeepSeek and Kimi
`reasoning_content`, OpenRouter `reasoning_details`. A message that an API client sent has such fields in
`extras`, and its reasoning in `reasoning` too.

The servers accept JSON mode (`response_format`) in different shapes. Workers AI takes a bare schema and
no stream: https://developers.cloudflare.com/workers-ai/features/json-mode/
OpenAI's API wraps the schema in `{"name", "schema", "strict"}`, and so do llama.cpp and other providers.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from . import parameters
from .catalog import LlmModel, Provider

RESPONSE_FORMAT_FIELD = "response_format"
JSON_FORMAT_TYPES = ("json_object", "json_schema")
WRAPPER = {"name", "schema", "strict", "description"}  # the keys of OpenAI's envelope
SCHEMA_NAME = "reply"  # OpenAI's envelope requires a name
Message = dict[str, Any]
# Fields of a message that are passed on to servers of OpenAI's API, as the client wrote them.
REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
PASSED_FIELDS = {*REASONING_FIELDS, "extra_content", "prefix", "partial", "name"}
PASSED_FIELDS |= {"cache_control", "prompt_cache_breakpoint"}
OWN_FIELDS = ("extras", "reasoning")
NO_FIELDS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class SentPart:
    """A document in the messages, or one of its parts, for the citations of the reply.

    `attachment` is the document's id, `title` its name. `page` (from 1) and `text` are those of a part; of a
    whole document they are 0 and "".
    """

    attachment: uuid.UUID
    title: str
    page: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A prompt with its parameters. `token_budget.fit` makes `messages` fit into the model's context window
    together with a reply of `max_tokens`.

    - `session_affinity`: routes a conversation to the machine that has its beginning in the prompt cache
    - `user_parameters`: the user's choices, by the names of `parameters.CHOSEN_PARAMETERS`; those that the
      model does not support are not sent
    - `raw_parameters`: parameters of an API client, sent as they are
    - `skip_cache`: a new reply is wanted, not one from a cache
    - `metadata`: labels for an AI Gateway's log, sent to no other server: the user's pseudonym, the
      conversation and the site
    - `batch_reads`: the reader is an API client, which need not get each token at once
    - `raw`: the single message is the whole prompt, without the model's chat template
    - `gateway`: headers of this request for an AI Gateway
    - `trace`: the context of the HTTP request's span, if traces are on
    - `context_start`: id of the stored message that comes first after the system prompt
    - `sent_parts`: the documents in the messages, or their parts
    """

    messages: list[dict[str, Any]]
    model: LlmModel
    max_tokens: int
    session_affinity: str = ""
    user_parameters: Mapping[str, parameters.Value] = field(default_factory=dict)
    raw_parameters: Mapping[str, Any] = field(default_factory=dict)
    skip_cache: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    batch_reads: bool = False
    raw: bool = False
    gateway: Mapping[str, str] = field(default_factory=dict)
    trace: Any = None
    context_start: uuid.UUID | None = None
    sent_parts: tuple[SentPart, ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The fields of this model's request body other than the messages and `max_tokens`."""
        body = parameters.to_request_body(self.model, self.user_parameters)
        sent = _to_provider_shape(self.model, parameters.to_provider_names(self.model, self.raw_parameters))
        return {**body, **sent, **self.model.lora_parameters}

    @property
    def stop_sequences(self) -> tuple[str, ...]:
        """The stop sequences that have to be found here, because the server is not known to do it."""
        stop = self.raw_parameters.get("stop") or ()
        if self.model.takes_max_tokens and not self.model.counts_against_quota:
            return ()
        if parameters.declares(self.model, "stop"):
            return ()
        return tuple(filter(None, [stop] if isinstance(stop, str) else stop))

    @property
    def single_tool_call(self) -> bool:
        """True if all tool calls but the first have to be left out here."""
        parallel = self.raw_parameters.get("parallel_tool_calls", True)
        return not parallel and parameters.declares(self.model, "parallel_tool_calls") is False

    @property
    def unstreamed(self) -> bool:
        """True if the server cannot stream this response, even if the client gets it as a stream."""
        return _is_unstreamed(self.model, self.raw_parameters)


def without_tools(request: ChatRequest) -> ChatRequest:
    kept = {name: value for name, value in request.raw_parameters.items() if name != "tools"}
    return replace(request, raw_parameters=kept)


def _is_unstreamed(model: LlmModel, sent: Mapping[str, Any]) -> bool:
    """Return True if the server rejects this request as a stream (error 5023).

    Also for a route of an AI Gateway, which can lead to such a server.
    """
    wanted = sent.get(RESPONSE_FORMAT_FIELD)
    return (
        (_is_workers_ai(model) or model.is_route)
        and isinstance(wanted, dict)
        and wanted.get("type") in JSON_FORMAT_TYPES
    )


def _to_provider_shape(model: LlmModel, sent: dict[str, Any]) -> dict[str, Any]:
    """Return the API client's parameters with `response_format` in the shape of this model's server."""
    wanted = sent.get(RESPONSE_FORMAT_FIELD)
    if not isinstance(wanted, dict):
        return sent
    if not _is_workers_ai(model):
        return sent | {RESPONSE_FORMAT_FIELD: _shaped(wanted, _enveloped)}
    if wanted.get("type") not in JSON_FORMAT_TYPES:
        # Text is the default, and the input schemas of most models do not know the value "text".
        return {name: value for name, value in sent.items() if name != RESPONSE_FORMAT_FIELD}
    return sent | {RESPONSE_FORMAT_FIELD: _shaped(wanted, _bare)}


def _is_workers_ai(model: LlmModel) -> bool:
    return not model.local and model.host is Provider.WORKERS_AI


def _shaped(wanted: dict[str, Any], shape: Any) -> dict[str, Any]:
    schema = wanted.get("json_schema")
    return wanted | {"json_schema": shape(schema)} if isinstance(schema, dict) else wanted


def _bare(schema: dict[str, Any]) -> dict[str, Any]:
    inner = schema.get("schema")
    return inner if isinstance(inner, dict) and schema.keys() <= WRAPPER else schema


def _enveloped(schema: dict[str, Any]) -> dict[str, Any]:
    return (
        schema if "schema" in schema and schema.keys() <= WRAPPER else {"name": SCHEMA_NAME, "schema": schema}
    )


def messages_for_workers_ai(messages: list[Message], model: LlmModel) -> list[Message]:
    """Return the messages without `extras`, and without earlier reasoning unless the model reads it.

    Reasoning models accept it as `reasoning`. Models that reason inside their text are trained without it.
    """
    removed = ("extras",) if model.reasoning else OWN_FIELDS
    return [_without(removed, message) for message in messages]


def messages_for_openai(messages: list[Message], *, reasoning: bool) -> list[Message]:
    """Return the messages in the shape of OpenAI's API, where arguments of tools are JSON texts.

    `reasoning`: the server takes reasoning of earlier replies.
    """
    return [_message_for_openai(message, reasoning=reasoning) for message in messages]


def _message_for_openai(message: Message, *, reasoning: bool) -> Message:
    extras = message.get("extras", NO_FIELDS)
    kept = {name: value for name, value in extras.items() if reasoning or name not in REASONING_FIELDS}
    shaped = {**_without(OWN_FIELDS, message), **kept}
    if calls := message.get("tool_calls"):
        shaped["tool_calls"] = [_call(call) for call in calls]
    return shaped


def _call(call: Message) -> Message:
    """Return a tool call with its name and arguments in `function`. Workers AI's own calls are flat."""
    if call.get("custom") is not None:
        return call
    if "function" not in call:
        flat = {name: call[name] for name in ("name", "arguments") if name in call}
        call = {**_without(tuple(flat), call), "type": "function", "function": flat}
    arguments = call["function"].get("arguments")
    if isinstance(arguments, str):
        return call
    return {**call, "function": {**call["function"], "arguments": json.dumps(arguments, ensure_ascii=False)}}


def _without(names: tuple[str, ...], message: Message) -> Message:
    if not any(name in message for name in names):
        return message
    return {name: value for name, value in message.items() if name not in names}
