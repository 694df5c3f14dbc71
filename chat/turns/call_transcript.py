"""An API call recorded as a conversation: its questions, and the reply once it is complete.

Until the call ends, its run is stored as interrupted, which is the right status if the process crashes.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.db import write_lock
from chat.models import Call, Conversation, Message, Run, User
from chat.models.conversation import TITLE_LENGTH, title_from
from chat.upstream.chat_request import ChatRequest
from chat.wire.frames import Delta
from chat.wire.text import sanitize

SYSTEM = ("system", "developer")
UNUSED = "unused"  # no turn has this fingerprint, so no request repeats it


class CallTranscript:
    """The conversation of one call, and the deltas of its reply so far."""

    def __init__(self, user: User, ask: ChatRequest) -> None:
        system, turns = _turns(ask.messages)
        self.conversation = Conversation(
            user=user,
            title=title_from(turns[0][1]) or ask.model.id[:TITLE_LENGTH],
            model=ask.model.id,
            system=system,
        )
        self.messages: list[Message] = []
        for role, text in [*turns, (Message.Role.ASSISTANT, "")]:
            parent = self.messages[-1] if self.messages else None
            self.messages.append(Message(conversation=self.conversation, parent=parent, role=role, text=text))
        self.reply = self.messages[-1]
        self.reply.model = ask.model.id
        self.conversation.active_leaf = self.reply
        now = timezone.now()
        self.run = Run(
            user=user,
            conversation=self.conversation,
            message=self.reply,
            fingerprint=UNUSED,
            model=ask.model.id,
            max_tokens=ask.max_tokens,
            status=Run.Status.INTERRUPTED,
            started=now,
            finished=now,
        )
        self._said: list[Delta] = []

    def add_delta(self, delta: Delta) -> None:
        self._said.append(delta)

    def save(self) -> None:
        """Insert all rows, in the transaction of the call: foreign keys are checked at its commit."""
        self.conversation.save(force_insert=True)
        Message.objects.bulk_create(self.messages)
        self.run.save(force_insert=True)

    def finish(self, outcome: Mapping[str, Any], tool_calls: Iterable[Mapping[str, Any]]) -> None:
        """Store the reply, unless its user has continued it on the page meanwhile."""
        text = "".join(delta.text for delta in self._said)
        text = "\n\n".join([*([text] if text else []), *map(_called, tool_calls)])
        reasoning = "".join(delta.reasoning for delta in self._said)
        if not Message.objects.filter(pk=self.reply.pk, text="").update(text=text, reasoning=reasoning):
            return
        now = timezone.now()
        lengths = {"text_length": len(text), "reasoning_length": len(reasoning)}
        Run.objects.filter(pk=self.run.pk).update(**outcome, **lengths, finished=now)
        Conversation.objects.filter(pk=self.conversation.pk).update(updated=now)


def save_call(
    call: Call, outcome: dict[str, Any], kept: CallTranscript | None, tool_calls: list[dict[str, Any]]
) -> None:
    """Store the outcome of a call, and the reply in its conversation if that is recorded."""
    with write_lock(), transaction.atomic():
        call.conclude(**outcome)
        if kept:
            kept.finish(outcome, tool_calls)


def _turns(messages: Iterable[Mapping[str, Any]]) -> tuple[str, list[tuple[Message.Role, str]]]:
    """Return the system prompt and [(role, text), …] of the rest, as a conversation can hold it.

    A conversation has no tool calls, so they become text. It begins with a question, so the first message is
    stored as the user's. Empty messages are left out.
    """
    system: list[str] = []
    turns: list[tuple[Message.Role, str]] = []
    for message in messages:
        text = message["content"]
        if message["role"] in SYSTEM:
            system.append(text)
            continue
        role = Message.Role.ASSISTANT if message["role"] == "assistant" else Message.Role.USER
        text = "\n\n".join([*([text] if text else []), *map(_called, message.get("tool_calls", []))])
        if not text:
            continue
        if not turns:
            role = Message.Role.USER
        turns.append((role, text))
    return ("\n\n".join(system), turns) if turns else ("", [(Message.Role.USER, "\n\n".join(system))])


def _called(call: Mapping[str, Any]) -> str:
    """Return a tool call as Markdown, for readers of the conversation."""
    function = call.get("function", call)
    shown = {"name": function.get("name"), "arguments": function.get("arguments")}
    return sanitize(f"```json\n{json.dumps(shown, ensure_ascii=False, indent=2)}\n```")
