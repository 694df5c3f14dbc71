"""A log to review, written past the engine: many conversations, and states that are hard to come by."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from chat.models import Conversation, Feedback, Message, Run, User
from chat.search import index

MODEL = "@cf/zai-org/glm-4.7-flash"
BEGUN = datetime(2026, 11, 1, 9, tzinfo=UTC)
TURN = timedelta(minutes=2)


def person(name: str) -> User:
    return User.objects.get_or_create(username=name, defaults={"email": f"{name}@example.org"})[0]


def talks(owner: str, titles: list[str], turns: int = 1, **more: Any) -> list[Conversation]:
    """Conversations of one person, an hour apart, the last of them the newest. `more` goes to `turns_of`."""
    user = person(owner)
    model = more.get("model", MODEL)
    made = [
        Conversation(
            user=user, title=title, model=model, created=BEGUN + timedelta(hours=n),
            updated=BEGUN + timedelta(hours=n, minutes=2 * turns),
        )
        for n, title in enumerate(titles)
    ]  # fmt: skip
    Conversation.objects.bulk_create(made)
    messages: list[Message] = []
    runs: list[Run] = []
    for conversation in made:
        turn_messages, turn_runs = turns_of(conversation, turns, **more)
        messages += turn_messages
        runs += turn_runs
        conversation.active_leaf = turn_messages[-1]
    Message.objects.bulk_create(messages, 2000)
    Run.objects.bulk_create(runs, 2000)
    Conversation.objects.bulk_update(made, ["active_leaf"], 500)
    index.add(index.title_of(conversation) for conversation in made)
    index.add(index.message_of(message, user.pk) for message in messages)
    return made


def turns_of(
    conversation: Conversation,
    turns: int,
    *,
    question: str = "Question {n}?",
    reply: str = "Answer **{n}**.",
    parent: Message | None = None,
    model: str = MODEL,
    reasoning: str = "",
    late: timedelta = timedelta(),
    **ended: Any,
) -> tuple[list[Message], list[Run]]:
    """Questions and their replies in a row, not stored yet; `ended` are fields of each run."""
    messages: list[Message] = []
    runs = []
    for n in range(1, turns + 1):
        at = conversation.created + late + n * TURN
        common = {"conversation": conversation}
        above = messages[-1] if messages else parent
        messages.append(
            Message(role="user", text=question.format(n=n), parent=above, created=at, **common)
        )  # fmt: skip
        messages.append(
            Message(
                role="assistant", text=reply.format(n=n), reasoning=reasoning, parent=messages[-1],
                model=model, created=at + timedelta(milliseconds=1), **common,
            )
        )  # fmt: skip
        runs.append(run_of(messages[-1], at, **ended))
    return messages, runs


def run_of(message: Message, at: datetime, **fields: Any) -> Run:
    """An attempt at a reply of three seconds, not stored yet."""
    whole = {
        "user": message.conversation.user,
        "conversation": message.conversation,
        "message": message,
        "model": message.model,
        "fingerprint": "f",
        "max_tokens": 100,
        "status": "complete",
        "prompt_tokens": 1000,
        "completion_tokens": 20,
        "created": at,
        "finished": at + timedelta(seconds=3),
        "text_length": len(message.text),
    }
    return Run(**(whole | fields))


def talk(owner: str = "alice", title: str = "A talk", turns: int = 1, **more: Any) -> Conversation:
    return talks(owner, [title], turns, **more)[0]


def branch(parent: Message | None, conversation: Conversation, turns: int = 1, **more: Any) -> list[Message]:
    """Another branch below `parent`, or another first question, later than all there is."""
    late = conversation.messages.count() * TURN
    messages, runs = turns_of(conversation, turns, parent=parent, late=late, **more)
    Message.objects.bulk_create(messages)
    Run.objects.bulk_create(runs)
    return messages


def judge(message: Message, up: bool, reason: str = "") -> None:
    Feedback.objects.create(
        message=message,
        conversation=message.conversation_id,
        user=message.conversation.user,
        up=up,
        reason=reason,
    )


def messages_of(conversation: Conversation) -> list[Message]:
    return list(conversation.messages.order_by("created", "pk"))


def missing() -> uuid.UUID:
    return uuid.uuid4()
