"""A conversation's messages as its page shows them."""

import uuid
from dataclasses import dataclass
from typing import Any

from chat.engine.position import Position
from chat.models import Conversation, Message, Run

PAGE = 50  # messages shown at once


@dataclass(frozen=True, slots=True)
class Thread:
    """`items` oldest first; `older` names the first message shown where there are older ones."""

    items: list[dict[str, Any]]
    older: uuid.UUID | None
    live_run: uuid.UUID | None


def read(conversation: Conversation, before: Message | None = None) -> Thread:
    """The newest page of the active branch, or the page that ends just before `before`."""
    leaf = before.parent_id if before else conversation.active_leaf_id
    steps = list(Message.objects.path(leaf, PAGE + 1)) if leaf else []
    ids = [step.id for step in reversed(steps[:PAGE])]
    found = Message.objects.in_bulk(ids)
    runs: dict[uuid.UUID, Run] = {}
    for run in Run.objects.filter(message_id__in=ids).order_by("created"):
        runs[run.message_id] = run
    items = [_item(found[id_], runs.get(id_)) for id_ in ids]
    _offer_retry(items, found)
    live = next((run.pk for run in runs.values() if run.is_live), None)
    return Thread(items, ids[0] if len(steps) > PAGE else None, live)


def _item(message: Message, run: Run | None) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": message.pk,
        "role": message.role,
        "text": message.text,
        "reasoning": message.reasoning,
        "model": message.model,
        "created": message.created,
        "run": None,
    }
    if run is None:
        return item
    text, reasoning = run.texts() if run.is_live else ("", "")
    item["text"] += text
    item["reasoning"] += reasoning
    item["run"] = {
        "id": run.pk,
        "status": run.status,
        "live": run.is_live,
        "position": str(Position(len(text), len(reasoning))),
        "message": run.error_message,
        "code": run.error_code,
        "retryable": run.status in (Run.Status.FAILED, Run.Status.INTERRUPTED),
        "finish_reason": run.finish_reason,
        "usage": run.usage,
        "seconds": run.seconds,
    }
    return item


def _offer_retry(items: list[dict[str, Any]], found: dict[uuid.UUID, Message]) -> None:
    """What the Retry of a reply sends: the same question again, beside the first one."""
    for item in items:
        if item["run"] and item["run"]["retryable"]:
            asked = found.get(found[item["id"]].parent_id)  # type: ignore[arg-type]
            if asked is not None:
                item["retry"] = {"content": asked.text, "parent": asked.parent_id}
