"""Conversations as trees of messages, written straight into the database."""

import itertools
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from chat.models import Conversation, Message, Run, User, Worker
from chat.models.run import LIVE, OWNED

USER, ASSISTANT = Message.Role.USER, Message.Role.ASSISTANT


def conversation(user: User | None = None) -> Conversation:
    user = user or User.objects.create_user(f"somebody {uuid.uuid4()}")
    return Conversation.objects.create(user=user, title="A tree", model="@cf/a/b")


class Tree:
    """Each message a second younger than the one before."""

    def __init__(self, within: Conversation) -> None:
        self.conversation = within
        self._now = timezone.now() - timedelta(days=1)

    def message(self, parent: Message | None, text: str = "") -> Message:
        """One more, its role that which follows its parent's; not stored yet."""
        role = ASSISTANT if parent and parent.role == USER else USER
        return Message(
            conversation=self.conversation,
            parent=parent,
            role=role,
            text=text or str(role),
            created=self.later(),
        )

    def grow(self, parent: Message | None, length: int) -> list[Message]:
        """A branch of so many messages."""
        branch: list[Message] = []
        for _ in range(length):
            branch.append(self.message(branch[-1] if branch else parent))
        return Message.objects.bulk_create(branch)

    def versions(self, parent: Message | None, count: int) -> list[Message]:
        return Message.objects.bulk_create([self.message(parent) for _ in range(count)])

    def show(self, leaf: Message) -> None:
        self.conversation.active_leaf = leaf
        self.conversation.save()

    def later(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now


def run(message: Message, status: str, worker: Worker | None = None, **fields: object) -> Run:
    """A run of this message that has ended, or lives and has a worker unless it waits."""
    live = status in LIVE
    if status in OWNED and worker is None:
        worker = Worker.objects.create(id=uuid.uuid4(), host="here", pid=1)
    return Run.objects.create(
        user=message.conversation.user,
        conversation=message.conversation,
        message=message,
        worker=worker,
        fingerprint="x",
        model="@cf/a/b",
        max_tokens=1,
        status=status,
        finished=None if live else timezone.now(),
        **fields,
    )


@contextmanager
def ending(live: Run, query: int, text: str, reasoning: str = "") -> Iterator[None]:
    """The run ends before the query of this number, from 0."""
    numbers = itertools.count()

    def end(execute: Any, *args: Any) -> Any:
        if next(numbers) == query:
            assert live.finish(text, reasoning, {"status": "complete"}, worker=live.worker_id)
        return execute(*args)

    with connection.execute_wrapper(end):
        yield
