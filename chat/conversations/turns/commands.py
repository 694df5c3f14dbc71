"""The commands that start a run. A command becomes a plan (`planner`), and a plan a stored turn (`store`).

The fingerprint of a command covers all that must be equal when its client key is sent again.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chat.upstream.parameters import Value
from chat.wire import sse

SentParameters = Mapping[str, Value | None]  # None resets a parameter to its default
LEAF = "leaf"  # the parent of a question that names none: the conversation's active leaf


@dataclass(frozen=True, slots=True)
class SendMessage:
    """A new question.

    `conversation` None starts a conversation; `parent` None starts another branch at its beginning. `model`,
    `system`, `parameters` and `tools` None leave the conversation's as they are; a new one begins with the
    defaults. `temporary` and `assistant`, with which it begins, are for a new one only. `attachments`: ids of
    uploaded pictures and documents.
    """

    content: str
    client_key: uuid.UUID
    conversation: uuid.UUID | None = None
    parent: uuid.UUID | str | None = LEAF
    model: str | None = None
    system: str | None = None
    parameters: SentParameters | None = None
    temporary: bool = False
    attachments: Sequence[uuid.UUID] = ()
    assistant: uuid.UUID | None = None
    tools: Sequence[str] | None = None

    @property
    def fingerprint(self) -> str:
        sent = (self.conversation, self.content, self.parent, self.model, self.system, *self.attachments)
        sent += (f"assistant {self.assistant}",) if self.assistant else ()
        kind = "send temporary" if self.temporary else "send"
        return _fingerprint(kind, *sent, *_named(self.tools), parameters=self.parameters)


@dataclass(frozen=True, slots=True)
class EditMessage:
    """Another version of the question `message`, with the text `content`. The old version is kept.

    `attachments`: ids of its pictures and documents, uploaded or the old version's; None keeps those of the
    old version.
    """

    message: uuid.UUID
    content: str
    client_key: uuid.UUID
    model: str | None = None
    system: str | None = None
    parameters: SentParameters | None = None
    attachments: Sequence[uuid.UUID] | None = None
    tools: Sequence[str] | None = None

    @property
    def fingerprint(self) -> str:
        sent = (self.message, self.content, self.model, self.system)
        attached = () if self.attachments is None else ("with", *self.attachments)
        return _fingerprint("edit", *sent, *attached, *_named(self.tools), parameters=self.parameters)


@dataclass(frozen=True, slots=True)
class RegenerateReply:
    """Another version of the reply `message`."""

    message: uuid.UUID
    client_key: uuid.UUID
    model: str | None = None
    parameters: SentParameters | None = None
    tools: Sequence[str] | None = None

    @property
    def fingerprint(self) -> str:
        sent = (self.message, self.model, *_named(self.tools))
        return _fingerprint("regenerate", *sent, parameters=self.parameters)


@dataclass(frozen=True, slots=True)
class ContinueReply:
    """A continuation of the reply `message`, which was cut short."""

    message: uuid.UUID
    client_key: uuid.UUID
    parameters: SentParameters | None = None

    @property
    def fingerprint(self) -> str:
        return _fingerprint("continue", self.message, parameters=self.parameters)


Command = SendMessage | EditMessage | RegenerateReply | ContinueReply


def _named(tools: Sequence[str] | None) -> tuple[str, ...]:
    return () if tools is None else ("tools", *sorted(tools))


def _fingerprint(*sent: Any, parameters: SentParameters | None) -> str:
    """Return a SHA-256 digest. Without parameters it is the same as before commands had parameters."""
    parts = [v if v is None else str(v) for v in sent]
    if parameters is not None:
        parts.append(json.dumps(parameters, sort_keys=True))
    return hashlib.sha256(sse.dumps(parts).encode()).hexdigest()
