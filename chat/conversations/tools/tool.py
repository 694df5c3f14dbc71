"""A tool: its declaration for the model, and the result of a call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Source:
    """A page or a message that a call has found. `text` is untrusted: anybody may have written it.

    `url` is an http or https address, or the path of a page of this site. `date` is that of the last change,
    as an ISO 8601 date; "" if it is not known.
    """

    title: str
    url: str
    text: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call. The engine numbers the sources within the reply and shows them to the model.

    `summary` is one line for the person, in the language of the request. `text` is for the model, beside the
    sources. `links` are addresses that the sources link to, which may then be read without a question. `cost`
    is in US dollars; None if it is not known. `undo` is the path of a page of this site that takes back what
    was done.
    """

    summary: str
    sources: tuple[Source, ...] = ()
    text: str = ""
    links: frozenset[str] = frozenset()
    cost: float | None = None
    undo: str = ""


@dataclass(frozen=True, slots=True)
class Permission:
    """The permission that a call asks the person for, before it is made.

    `key` names it, so that a later call of the conversation may do the same without asking. `question` is one
    line for the person, in the language of the request, that says who would be sent what.
    """

    key: str
    question: str


class ToolFailed(Exception):
    """A call brought nothing. The message is for the person, and for the model too if `text` is ""."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text or message


@dataclass(slots=True)
class CallContext:
    """For whom a tool is called. `known` are the addresses that may be read without asking the person.

    Those are the ones that the person wrote, that a search returned, or that a page links to that was read.
    """

    user: int
    conversation: str
    known: set[str] = field(default_factory=set)


class Tool(Protocol):
    """A tool of this site. `name` is the one that the model calls it by, unique among the tools of a run."""

    name: str

    @property
    def declaration(self) -> dict[str, Any]:
        """The function as OpenAI's API declares it: name, description and a JSON Schema as `parameters`."""

    def permission(self, arguments: Mapping[str, Any], context: CallContext) -> Permission | None:
        """Return what the person has to allow first; None if nothing."""

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Call it. Raises ToolFailed. Cancelling ends the call at once and closes its connections."""
