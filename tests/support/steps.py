"""Rows of steps, as replies leave them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from chat.models import Citation, Conversation, Message, Run, Step, User

BEGUN = datetime(2026, 11, 4, 12, tzinfo=UTC)
SECRET = "The safe’s number is 1234"
_ANSWER = "5b0f5ad2-7f9d-4b56-9f0e-0d8b5a3f6a12"
OTHER_CHAT = f"/c/2d0f5ad2-7f9d-4b56-9f0e-0d8b5a3f6a11/?at={_ANSWER}#m-{_ANSWER}"
PAGE = "https://web.example/a?b=1&c=2"
EVIL = "</li><script>alert(1)</script>"


def run_of(message: Message, user: User, **columns: Any) -> Run:
    """A finished attempt at a reply."""
    given = {"model": "m", "max_tokens": 1, "status": "complete", "created": BEGUN, "finished": BEGUN}
    return Run.objects.create(
        user=user, conversation=message.conversation, message=message, **given | columns
    )


def step_of(run: Run, number: int, tool: str = "web_search", **columns: Any) -> Step:
    given: dict[str, Any] = {
        "message_id": run.message_id, "user_id": run.user_id, "number": number, "turn": 1, "revision": number,
        "call": f"call_{number}", "tool": tool, "arguments": {"query": "boats"}, "state": "done",
        "summary": "1 result", "created": run.created, "finished": run.created + timedelta(seconds=2),
    }  # fmt: skip
    return Step.objects.create(run=run, **given | columns)


def looked_up(user: User) -> Conversation:
    """A reply that searched the web and the person's chats, with a source of each."""
    made = Conversation.objects.create(user=user, title="Boats", model="m", tools=["search_my_chats"])
    question = Message.objects.create(conversation=made, role="user", text="How?")
    reply = Message.objects.create(conversation=made, role="assistant", text="So [1] [2].", parent=question)
    citations = [
        Citation(title="My safe", url=OTHER_CHAT, text=SECRET, created=BEGUN),
        Citation(title=f"A page {EVIL}", url=PAGE, text="Boats float.", date="2026-10-01", created=BEGUN),
    ]
    Citation.objects.add(reply.pk, citations)
    run = run_of(reply, user, tools=["search_my_chats"])
    sources = [
        {"number": n, **{name: getattr(each, name) for name in ("title", "url", "date")}}
        for n, each in enumerate(citations, 1)
    ]
    step_of(run, 1, "search_my_chats", summary="1 chat", result=SECRET, sources=sources[:1])
    step_of(
        run, 2, arguments={"query": EVIL, "deep": {"er": [1, None, True]}}, result="Boats float.",
        sources=sources[1:], cost=0.00025,
    )  # fmt: skip
    step_of(run, 3, "read_page", arguments={"url": PAGE}, state="failed", summary="This took too long.")
    made.active_leaf = reply
    made.save()
    return made
