"""An API call recorded as a conversation: its questions, and the reply once it is complete.

Until the call ends, its run is stored as interrupted, which is the right status if the process crashes.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.db.executor import write_lock
from chat.limits import TITLE_LENGTH
from chat.models import Call, Conversation, Message, Run, User
from chat.models.conversation import title_from
from chat.models.model_request import OutcomeColumns
from chat.search import index
from chat.upstream.chat_request import ChatRequest
from chat.upstream.pictures import files_of
from chat.wire.delta import Delta
from chat.wire.text import sanitize

SYSTEM_ROLES = ("system", "developer")
NO_FINGERPRINT = "unused"  # no command has this fingerprint, so no request repeats the run


class CallTranscript:
    """The conversation of one call, and the deltas of its reply so far."""

    def __init__(self, user: User, request: ChatRequest) -> None:
        system, others = _storable(request.messages)
        self.conversation = Conversation(
            user=user,
            title=title_from(others[0][1]) or request.model.id[:TITLE_LENGTH],
            model=request.model.id,
            system=system,
        )
        self.messages: list[Message] = []
        for role, text in [*others, (Message.Role.ASSISTANT, "")]:
            parent = self.messages[-1] if self.messages else None
            self.messages.append(Message(conversation=self.conversation, parent=parent, role=role, text=text))
        self.reply = self.messages[-1]
        self.reply.model = request.model.id
        self.conversation.active_leaf_id = self.reply.pk
        now = timezone.now()
        self.run = Run(
            user=user,
            conversation=self.conversation,
            message=self.reply,
            fingerprint=NO_FINGERPRINT,
            model=request.model.id,
            max_tokens=request.max_tokens,
            status=Run.Status.INTERRUPTED,
            started=now,
            finished=now,
        )
        self._deltas: list[Delta] = []

    def add_delta(self, delta: Delta) -> None:
        self._deltas.append(delta)

    def save(self) -> None:
        """Insert all rows, in the transaction of the call: foreign keys are checked at its commit."""
        self.conversation.save(force_insert=True)
        Message.objects.bulk_create(self.messages)
        self.run.save(force_insert=True)
        owner = self.conversation.user_id
        index.add(
            [index.title_of(self.conversation), *(index.message_of(each, owner) for each in self.messages)]
        )

    def finish(self, outcome: OutcomeColumns, tool_calls: Iterable[Mapping[str, Any]]) -> None:
        """Store the reply, unless its user has continued it on the page meanwhile."""
        text = _with_tool_calls("".join(delta.shown_text for delta in self._deltas), tool_calls)
        reasoning = "".join(delta.reasoning for delta in self._deltas)
        if not Message.objects.filter(pk=self.reply.pk, text="").update(text=text, reasoning=reasoning):
            return
        self.reply.text = text
        index.add([index.message_of(self.reply, self.conversation.user_id)])
        now = timezone.now()
        Run.objects.filter(pk=self.run.pk).update(
            **outcome, text_length=len(text), reasoning_length=len(reasoning), finished=now
        )
        Conversation.objects.filter(pk=self.conversation.pk).update(updated=now)


def save_call(
    call: Call, outcome: OutcomeColumns, transcript: CallTranscript | None, tool_calls: list[dict[str, Any]]
) -> None:
    """Store the outcome of a call, and the reply in its conversation if that is recorded."""
    with write_lock(), transaction.atomic():
        call.finish(outcome)
        if transcript:
            transcript.finish(outcome, tool_calls)


def _storable(messages: Iterable[Mapping[str, Any]]) -> tuple[str, list[tuple[Message.Role, str]]]:
    """Return the system prompt and [(role, text), …] of the other messages, in a form that can be stored.

    Its pictures and files are not stored and a conversation has no tool calls, so they become text. It begins
    with a question, so the first message is stored as the user's. Empty messages are left out.
    """
    system: list[str] = []
    others: list[tuple[Message.Role, str]] = []
    for message in messages:
        text = message["content"]
        if message["role"] in SYSTEM_ROLES:
            system.append(text)
            continue
        role = Message.Role.ASSISTANT if message["role"] == "assistant" else Message.Role.USER
        text = "\n\n".join(filter(None, [text, *(each.as_text for each in files_of(dict(message)))]))
        text = _with_tool_calls(text, message.get("tool_calls", []))
        if not text:
            continue
        if not others:
            role = Message.Role.USER
        others.append((role, text))
    return ("\n\n".join(system), others) if others else ("", [(Message.Role.USER, "\n\n".join(system))])


def _with_tool_calls(text: str, calls: Iterable[Mapping[str, Any]]) -> str:
    return "\n\n".join([*([text] if text else []), *map(_markdown_of_call, calls)])


def _markdown_of_call(call: Mapping[str, Any]) -> str:
    custom = call.get("custom")
    function = custom or call.get("function") or call
    text_field = "input" if custom else "arguments"
    shown = {"name": function.get("name"), text_field: function.get(text_field)}
    return sanitize(f"```json\n{json.dumps(shown, ensure_ascii=False, indent=2)}\n```")
