"""The messages of a conversation's page, as template contexts."""

import uuid
from dataclasses import dataclass
from typing import Any

from chat.engine.streaming.position import Position
from chat.models import Conversation, Message, Run
from chat.models.message import BranchNode
from chat.turns.planner import can_continue

from . import outcome

PAGE = 50  # messages shown at once
PAGE_LENGTH = 1_000_000  # code points of text shown at once; a question and its reply are always shown


@dataclass(frozen=True, slots=True)
class Thread:
    """`items`: oldest first; `older`: id of the first message shown, None if there are no older ones."""

    items: list[dict[str, Any]]
    older: uuid.UUID | None
    live_run: uuid.UUID | None


def read(
    conversation: Conversation, before: Message | None = None, *, since: uuid.UUID | None = None
) -> Thread:
    """Return the newest page of the active branch, or the page that ends just before `before`.

    If `since` is on that page, only it and the messages after it. The number of queries is fixed.
    """
    leaf = before.parent_id if before else conversation.active_leaf_id
    places = list(reversed(Message.objects.branch(leaf, PAGE + 1))) if leaf else []
    shown = places[-_count(leaf) :]
    ids = [place.id for place in shown]
    if since in ids:
        shown = places = shown[ids.index(since) :]
        ids = [place.id for place in shown]
    found = Message.objects.select_related("feedback").in_bulk(ids)
    runs: dict[uuid.UUID, Run] = {}
    for run in Run.objects.filter(message_id__in=ids).order_by("created"):
        runs[run.message_id] = run
    items = [
        _item(found[place.id], place, runs.get(place.id), is_leaf=place is shown[-1] and before is None)
        for place in shown
    ]
    live = next((run.pk for run in runs.values() if run.is_live), None)
    return Thread(items, ids[0] if len(places) > len(shown) else None, live)


def _count(leaf: uuid.UUID | None) -> int:
    """Return how many messages, from `leaf` upwards, fit on one page."""
    count, length = 0, 0
    for step in Message.objects.ancestors(leaf, PAGE) if leaf else ():
        length += step.length
        if length > PAGE_LENGTH and count >= 2:
            break
        count += 1
    return count


def _item(message: Message, place: BranchNode, run: Run | None, *, is_leaf: bool) -> dict[str, Any]:
    """Return a message's context: the texts of all its runs, and the stream position of the last one."""
    text, reasoning = run.texts() if run and run.is_live else ("", "")
    feedback = getattr(message, "feedback", None)
    return {
        "id": message.pk,
        "role": message.role,
        "text": message.text + text,
        "final": not (run and run.is_live),
        "reasoning": message.reasoning + reasoning,
        "model": message.model,
        "created": message.created,
        "is_first": message.parent_id is None,
        "run": _run(run, Position(len(text), len(reasoning))) if run else None,
        "versions": _versions(place),
        "feedback": None if feedback is None else "up" if feedback.up else "down",
        "reason": feedback.reason if feedback else "",
        "can": {
            "edit": message.role == Message.Role.USER,
            "regenerate": message.role == Message.Role.ASSISTANT,
            "continue": run is not None and is_leaf and can_continue(message, run),
        },
    }


def _run(run: Run, position: Position) -> dict[str, Any]:
    return outcome.outcome_context(run) | {
        "id": run.pk,
        "live": run.is_live,
        "position": str(position),
        "finish_reason": run.finish_reason,
        "usage": run.usage,
        "seconds": run.seconds,
        "thinking_seconds": run.thinking_seconds,
        "cached": run.gateway_cached,
        "fallback": run.gateway_step,
        "served_by": run.served_by,
    }


def _versions(place: BranchNode) -> dict[str, Any] | None:
    """Return the place among the versions of a message, None if there is only one."""
    if place.count < 2:
        return None
    return {
        "index": place.index,
        "count": place.count,
        "previous": place.previous,
        "next": place.next,
    }
