"""What is asked of a model for one reply, whoever the model belongs to."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import json_mode, parameters
from .catalogue import LlmModel


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`messages` fit into the model's window together with a reply of `max_tokens`, as `budget.fit` sees to.

    `affinity` leads a conversation to the machine that has read its beginning already. Of what was `chosen`,
    by the names of `parameters.CHOICES`, the model is told what it knows; what a program `sent` it is told as
    it stands. `fresh`: another answer than the last one is wanted, so none from a cache. `labels` say who
    asks where, under pseudonyms, to an AI Gateway only. `coarse`: a program reads it, and need not see each
    word at once. `raw`: the one message is all that the model reads, without its template.
    `gateway` holds headers of its own for an AI Gateway.
    `context_start` is the stored message behind the first one after the instructions.
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
    context_start: uuid.UUID | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """What stands in the body for this model beside the messages and `max_tokens`."""
        body = parameters.to_request_body(self.model, self.user_parameters)
        sent = json_mode.told(self.model, parameters.to_provider_names(self.model, self.raw_parameters))
        return {**body, **sent, **self.model.lora_parameters}

    @property
    def unstreamed(self) -> bool:
        """Whether the answer can only be had whole, however it is handed on."""
        return json_mode.is_unstreamed(self.model, self.raw_parameters)
