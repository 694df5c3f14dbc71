"""The sources of a reply in this chat's own JSON: its citations, and the calls of tools."""

import json
from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct, structs

from chat import limits
from chat.rendering.links import is_source
from chat.transfer import records
from chat.transfer.problems import ConversationProblem
from chat.wire import strict_json

ENDED = ("done", "failed", "stopped")
NOTHING = "{}"


class OwnCitation(Struct):
    title: records.Title
    text: Annotated[str, Meta(max_length=limits.MAX_PASSAGE_CHARS)]
    url: records.Url = ""
    page: records.Page = 0
    created: records.Moment | None = None
    attachment: UUID | None = None
    date: records.Date = ""


class OwnStep(records.StepFields, frozen=True):
    """A call of a tool. One that was running when it was exported is imported as stopped."""

    tool: records.ToolName
    state: Literal["running", "waiting", "done", "failed", "stopped"]
    arguments: records.Object


def citation(raw: OwnCitation, places: dict[UUID, tuple[str, int]]) -> records.ImportedCitation:
    """Return a citation. `places`: of each attachment, the key of its message, and its position there.

    Raises ConversationProblem.
    """
    _check(raw)
    place = places.get(raw.attachment) if raw.attachment else None
    return records.ImportedCitation(raw.title, raw.url, raw.page, raw.text, utc(raw.created), place, raw.date)


def step(raw: OwnStep) -> records.ImportedStep:
    """Return a step. Raises ConversationProblem."""
    for each in raw.sources:
        _check(each)
    fields = structs.asdict(raw) | {
        "state": raw.state if raw.state in ENDED else "stopped",
        "arguments": _arguments(raw.arguments),
        "created": utc(raw.created),
        "finished": utc(raw.finished),
    }
    return records.ImportedStep(**fields)


def limit_results(messages: list[records.ImportedMessage]) -> None:
    """Leave out the results beyond the limit: they are no more than what a model was sent, once."""
    room = records.MAX_RESULTS_CHARS
    for message in messages:
        for number, each in enumerate(message.steps):
            if len(each.result) > room:
                message.steps[number] = structs.replace(each, result="")
            room -= len(message.steps[number].result)


def _arguments(value: records.Object) -> str:
    """Return the arguments as JSON; none if they are long or deep, as only a model's mistake is."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        strict_json.loads(text.encode(), max_depth=records.MAX_ARGUMENTS_DEPTH)
    except strict_json.InvalidJSON:
        return NOTHING
    return text if len(text) <= records.MAX_ARGUMENTS_CHARS else NOTHING


def _check(raw: OwnCitation | records.ImportedSource) -> None:
    if not is_source(raw.url, raw.date):
        raise ConversationProblem("invalid")


def utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
