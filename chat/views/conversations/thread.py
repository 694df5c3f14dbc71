"""The messages of a conversation's page, as template contexts, with times in their reader's time zone."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext, pgettext

from chat.conversations.tools.shown import shown_groups
from chat.conversations.turns.planner import can_continue
from chat.models import Attachment, Citation, Conversation, Message, Run, Step
from chat.models.citation import by_source
from chat.models.message import MAX_BRANCH_DEPTH, BranchNode
from chat.wire.position import Position

from . import runs

MESSAGES_PER_PAGE = 50
PAGE_LENGTH = 1_000_000  # code points of text on a page, unless a question and its reply alone have more
FOLD_CHARS = 2_500  # a longer question is folded
LINE_LENGTH = 50  # characters that each line counts as in addition, because short lines take space too
# Below the message that a page is opened at; with more, the newest are left out.
MAX_MESSAGES_BELOW = 200
MESSAGES_BELOW_TARGET = 10  # then shown below it


def add_times(items: Iterable[dict[str, Any]], zone: tzinfo, now: datetime) -> None:
    """Add to each message's context `at`, its local time, and `day`, the name of the day that it begins.

    The first message names its day too, unless that is today. `at` is naive, so templates do not convert it.
    """
    today = last_day = now.astimezone(zone).date()
    for item in items:
        item["at"] = item["created"].astimezone(zone).replace(tzinfo=None)
        day = item["at"].date()
        item["day"] = _name_of_day(day, today) if day != last_day else ""
        last_day = day


def _name_of_day(day: date, today: date) -> str:
    if day == today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    # Translators: the format of a date such as 12 November 2026, for Django's template filter "date".
    return date_format(day, pgettext("date format", "j F Y"))


@dataclass(frozen=True, slots=True)
class Thread:
    """A page of messages. `items`: their contexts, oldest first.

    `older`: the id of the first one, which is the cursor of the previous page; None if there is none.
    """

    items: list[dict[str, Any]]
    older: uuid.UUID | None
    live_run: uuid.UUID | None
    model_above: str = ""  # of the reply before the page


EMPTY = Thread([], None, None)


def read(
    conversation: Conversation,
    before: Message | None = None,
    *,
    since: uuid.UUID | None = None,
    most: int = MESSAGES_PER_PAGE,
) -> Thread:
    """Return the newest page of the active branch, or the page that ends just before `before`.

    If `since` is on that page, only it and the messages after it. The number of queries does not grow with
    the page: there is one more for pictures and documents, one for citations, and one for steps.
    """
    leaf = before.parent_id if before else conversation.active_leaf_id
    places = list(reversed(Message.objects.branch(leaf, most + 2))) if leaf else []
    page = places[-_count(leaf, most) :]
    has_older = len(places) > len(page)
    ids = [place.id for place in page]
    if since in ids:
        page, has_older = page[ids.index(since) :], False
        ids = [place.id for place in page]
    above = [place.id for place in places[: len(places) - len(page)][-2:]]
    # The runs first: the text of one that ends now is in its message from then on.
    last_runs = {run.message_id: run for run in Run.objects.filter(message_id__in=ids).order_by("created")}
    messages = Message.objects.select_related("feedback").in_bulk([*above, *ids])
    steps = Step.objects.of_messages(place.id for place in page if place.has_steps)
    items = [
        _item(
            messages[place.id],
            place,
            last_runs.get(place.id),
            steps.get(place.id, []),
            is_leaf=place is page[-1] and before is None,
        )
        for place in page
    ]
    _add_files_and_sources(items, page)
    live_run = next((run.pk for run in last_runs.values() if run.is_live), None)
    models = [messages[key].model for key in above if messages[key].role == Message.Role.ASSISTANT]
    return Thread(items, ids[0] if has_older else None, live_run, models[-1] if models else "")


def _add_files_and_sources(items: Iterable[dict[str, Any]], page: Sequence[BranchNode]) -> None:
    attachments = Attachment.objects.of_messages(place.id for place in page if place.has_attachments)
    citations = Citation.objects.of_messages(place.id for place in page if place.has_citations)
    for item in items:
        several = attachments.get(item["id"], [])
        item["pictures"] = [each for each in several if each.is_picture]
        item["documents"] = [each for each in several if not each.is_picture]
        sources = by_source(citations.get(item["id"], ()))
        item["source_count"], item["sources"] = len(sources), sources if item["final"] else []


def read_at(conversation: Conversation, message: Message) -> Thread | None:
    """Return the newest page of the active branch, extended up to `message`.

    If that would be too long, return the page that ends `MESSAGES_BELOW_TARGET` below it. Return None if the
    message is on another branch.
    """
    leaf = conversation.active_leaf_id
    path = [node.id for node in Message.objects.ancestors(leaf, MAX_BRANCH_DEPTH)] if leaf else []
    if message.pk not in path:
        return None
    place = path.index(message.pk)
    if place < MAX_MESSAGES_BELOW:
        page = read(conversation, most=max(MESSAGES_PER_PAGE, place + 2))
        if any(item["id"] == message.pk for item in page.items):
            return page
    below = Message.objects.get(pk=path[max(0, place - MESSAGES_BELOW_TARGET)]) if place else None
    return read(conversation, below)


def _count(leaf: uuid.UUID | None, most: int) -> int:
    """Return how many messages, from `leaf` upwards, fit on a page: at most `most`, and PAGE_LENGTH."""
    count, length = 0, 0
    for node in Message.objects.ancestors(leaf, most) if leaf else ():
        length += node.length
        if length > PAGE_LENGTH and count >= 2:
            break
        count += 1
    return count


def _item(
    message: Message, place: BranchNode, run: Run | None, steps: list[Step], *, is_leaf: bool
) -> dict[str, Any]:
    """Return a message's context: the texts of all its runs, and the stream position of the last one."""
    text, reasoning = message.text, message.reasoning
    if run and run.is_live:
        text, reasoning = run.texts_of_message()
    feedback = getattr(message, "feedback", None)
    return {
        "id": message.pk,
        "role": message.role,
        "text": text,
        "final": not (run and run.is_live),
        "reasoning": reasoning,
        "model": message.model,
        "created": message.created,
        "is_first": message.parent_id is None,
        "is_long": len(message.text) + LINE_LENGTH * (message.text.count("\n") + 1) > FOLD_CHARS,
        "run": run_context(run, _position(run, text, reasoning, steps)) if run else None,
        "steps": shown_groups(steps, text, live=bool(run and run.is_live), asks=True),
        "versions": _versions(place),
        "feedback": feedback and feedback.thumb,
        "reason": feedback.reason if feedback else "",
        "can": {
            "edit": message.role == Message.Role.USER,
            "regenerate": message.role == Message.Role.ASSISTANT,
            "continue": run is not None and is_leaf and can_continue(message, run),
        },
    }


def _position(run: Run, text: str, reasoning: str, steps: list[Step]) -> Position:
    """Return the position in the run's stream of a page that shows this much of its message."""
    revision = max((step.revision for step in steps if step.run_id == run.pk), default=0)
    return Position(len(text) - run.text_offset, len(reasoning) - run.reasoning_offset, revision)


def run_context(run: Run, position: Position) -> dict[str, Any]:
    """Return the template's context of a run, at this position of its stream."""
    return runs.outcome_context(run) | {
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
    """Return the message's position among its versions; None if it has only one."""
    if place.count < 2:
        return None
    return {name: getattr(place, name) for name in ("index", "count", "previous", "next")}
