"""A request for one reply, independent of the provider."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import json_mode, parameters
from .catalog import LlmModel


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
        sent = json_mode.to_provider_shape(
            self.model, parameters.to_provider_names(self.model, self.raw_parameters)
        )
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
        return json_mode.is_unstreamed(self.model, self.raw_parameters)
