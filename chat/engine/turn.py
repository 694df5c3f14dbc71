"""What a person asks for that starts a run. Each says what must be the same for a key to mean the same."""

import hashlib
import uuid
from dataclasses import dataclass
from typing import Any

from chat.wire import sse

LEAF = "leaf"  # the parent of a question that names none: where the conversation stands


@dataclass(frozen=True, slots=True)
class Question:
    """What a person sends. `conversation` None begins one; `parent` None begins it anew.

    `model` and `system` None mean: as before.
    """

    content: str
    client_key: uuid.UUID
    conversation: uuid.UUID | None = None
    parent: uuid.UUID | str | None = LEAF
    model: str | None = None
    system: str | None = None

    @property
    def fingerprint(self) -> str:
        return _fingerprint("send", self.conversation, self.content, self.parent, self.model, self.system)


@dataclass(frozen=True, slots=True)
class Edit:
    """`content` in place of the question `message`, beside it: the old one stays."""

    message: uuid.UUID
    content: str
    client_key: uuid.UUID
    model: str | None = None
    system: str | None = None

    @property
    def fingerprint(self) -> str:
        return _fingerprint("edit", self.message, self.content, self.model, self.system)


@dataclass(frozen=True, slots=True)
class Regeneration:
    """Another reply beside the reply `message`."""

    message: uuid.UUID
    client_key: uuid.UUID
    model: str | None = None

    @property
    def fingerprint(self) -> str:
        return _fingerprint("regenerate", self.message, self.model)


@dataclass(frozen=True, slots=True)
class Continuation:
    """More of the reply `message`."""

    message: uuid.UUID
    client_key: uuid.UUID

    @property
    def fingerprint(self) -> str:
        return _fingerprint("continue", self.message)


Turn = Question | Edit | Regeneration | Continuation


def _fingerprint(*sent: Any) -> str:
    return hashlib.sha256(sse.dumps([v if v is None else str(v) for v in sent]).encode()).hexdigest()
