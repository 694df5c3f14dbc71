"""What a person asks for that starts a run. Each says what must be the same for a key to mean the same."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chat.upstream.parameters import Value
from chat.wire import sse

SentParameters = Mapping[str, Value | None]  # parameters: None forgets what was chosen
LEAF = "leaf"  # the parent of a question that names none: where the conversation stands


@dataclass(frozen=True, slots=True)
class SendMessage:
    """What a person sends. `conversation` None begins one; `parent` None begins it anew.

    `model`, `system` and `parameters` None mean: as before.
    """

    content: str
    client_key: uuid.UUID
    conversation: uuid.UUID | None = None
    parent: uuid.UUID | str | None = LEAF
    model: str | None = None
    system: str | None = None
    parameters: SentParameters | None = None

    @property
    def fingerprint(self) -> str:
        sent = (self.conversation, self.content, self.parent, self.model, self.system)
        return _fingerprint("send", *sent, parameters=self.parameters)


@dataclass(frozen=True, slots=True)
class EditMessage:
    """`content` in place of the question `message`, beside it: the old one stays."""

    message: uuid.UUID
    content: str
    client_key: uuid.UUID
    model: str | None = None
    system: str | None = None
    parameters: SentParameters | None = None

    @property
    def fingerprint(self) -> str:
        sent = (self.message, self.content, self.model, self.system)
        return _fingerprint("edit", *sent, parameters=self.parameters)


@dataclass(frozen=True, slots=True)
class RegenerateReply:
    """Another reply beside the reply `message`."""

    message: uuid.UUID
    client_key: uuid.UUID
    model: str | None = None
    parameters: SentParameters | None = None

    @property
    def fingerprint(self) -> str:
        return _fingerprint("regenerate", self.message, self.model, parameters=self.parameters)


@dataclass(frozen=True, slots=True)
class ContinueReply:
    """More of the reply `message`."""

    message: uuid.UUID
    client_key: uuid.UUID
    parameters: SentParameters | None = None

    @property
    def fingerprint(self) -> str:
        return _fingerprint("continue", self.message, parameters=self.parameters)


Turn = SendMessage | EditMessage | RegenerateReply | ContinueReply


def _fingerprint(*sent: Any, parameters: SentParameters | None) -> str:
    """Those of a send without parameters are as they were before there were any."""
    said = [v if v is None else str(v) for v in sent]
    if parameters is not None:
        said.append(json.dumps(parameters, sort_keys=True))
    return hashlib.sha256(sse.dumps(said).encode()).hexdigest()
