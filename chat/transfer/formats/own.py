"""This chat's own JSON, as `chat.transfer.document` writes it. A deviation refuses the conversation."""

from typing import Any

from chat.limits import (
    MAX_ALT_CHARS,
    MAX_ATTACHMENTS,
    MAX_CITATION_TITLE_CHARS,
    MAX_CITATIONS,
    MAX_FILE_NAME_CHARS,
    MAX_MODEL_CHARS,
    MAX_PASSAGE_CHARS,
    MAX_REASON_CHARS,
    MAX_TAG_CHARS,
    MAX_URL_CHARS,
    TITLE_LENGTH,
)
from chat.rendering.links import is_web_address
from chat.transfer.imported import MAX_SHORT_FIELD_CHARS
from chat.transfer.own_format import (
    ATTACHMENT_FILE,
    CONVERSATION_FORMAT_VERSION,
    RUN_TEXTS,
    RUN_TIMES,
    USAGE_FIELDS,
    Object,
    written,
)
from chat.transfer.problems import ConversationProblem
from chat.transfer.records import (
    ASSISTANT,
    MAX_IMPORTED_CHARS,
    MAX_PAGE,
    MAX_PARAMETER_CHARS,
    MAX_PARAMETERS,
    MAX_RUNS,
    MAX_TAGS,
    MAX_VERSION_NUMBER,
    USER,
    ImportedAttachment,
    ImportedCitation,
    ImportedConversation,
    ImportedMessage,
)

from . import strict

MAX_RUN_TEXT_CHARS = 500
# Statuses of an attempt. One that was live when it was exported is imported as interrupted.
ENDED, LIVE = ("complete", "stopped", "interrupted", "truncated", "failed"), ("queued", "running")
IMPORTED_LIVE = "interrupted"

Places = dict[str, tuple[str, int]]  # {id of an attachment: (key of its message, its position there)}


def conversation(value: dict[str, Any]) -> ImportedConversation:
    strict.check_version(value, CONVERSATION_FORMAT_VERSION)
    places: Places = {}
    messages = [_message(strict.record(raw), places) for raw in strict.items(value, "messages")]
    _check_roots(messages)
    return ImportedConversation(
        source="chat",
        key=strict.identifier(value.get("id")),
        title=strict.text(value, "title", TITLE_LENGTH),
        messages=messages,
        leaf=strict.optional(strict.identifier, value.get("active_leaf")) or "",
        model=strict.text(value, "model", MAX_MODEL_CHARS),
        system=strict.text(value, "system"),
        parameters=strict.parameters(value.get("parameters")),
        created=strict.moment(value.get("created")),
        updated=strict.moment(value.get("updated")),
        pinned_at=strict.optional(strict.moment, value.get("pinned_at")),
        archived_at=strict.optional(strict.moment, value.get("archived_at")),
        assistant=strict.optional(_assistant, value.get("assistant")),
        tags=[strict.string(tag, MAX_TAG_CHARS) for tag in strict.items(value, "tags", MAX_TAGS)],
    )


def _assistant(value: Any) -> tuple[str, int]:
    raw = strict.record(value)
    number = strict.whole(raw.get("version"), 1, MAX_VERSION_NUMBER)
    return strict.identifier(raw.get("id")), number


def _message(raw: Object, places: Places) -> ImportedMessage:
    """Return a message. `places` gets its attachments, and has those of the messages above it."""
    role = strict.text(raw, "role", MAX_SHORT_FIELD_CHARS)
    if role not in (USER, ASSISTANT):
        strict.refuse()
    key = strict.identifier(raw.get("id"))
    attachments = [strict.record(each) for each in strict.items(raw, "attachments", MAX_ATTACHMENTS)]
    ids = [strict.optional(strict.identifier, each.get("id")) for each in attachments]
    places |= {own: (key, at) for at, own in enumerate(ids) if own}
    return ImportedMessage(
        key=key,
        parent=strict.optional(strict.identifier, raw.get("parent")),
        role=role,
        text=strict.text(raw, "text", MAX_IMPORTED_CHARS),
        reasoning=strict.text(raw, "reasoning", MAX_IMPORTED_CHARS),
        model=strict.text(raw, "model", MAX_MODEL_CHARS),
        created=strict.moment(raw.get("created")),
        selected_at=strict.optional(strict.moment, raw.get("selected_at")),
        feedback=strict.optional(_feedback, raw.get("feedback")),
        runs=[_run(strict.record(run)) for run in strict.items(raw, "runs", MAX_RUNS)],
        attachments=[_attachment(each) for each in attachments],
        citations=[_citation(each, places) for each in strict.items(raw, "citations", MAX_CITATIONS)],
    )


def _attachment(raw: Object) -> ImportedAttachment:
    """Return a picture or document. Only its file says what it is: type, size and pages are not believed."""
    file = strict.text(raw, "file", MAX_SHORT_FIELD_CHARS)
    if not ATTACHMENT_FILE.fullmatch(file):
        strict.refuse()
    name = strict.text(raw, "name", MAX_FILE_NAME_CHARS)
    return ImportedAttachment(file, name, strict.text(raw, "alt", MAX_ALT_CHARS))


def _citation(value: Any, places: Places) -> ImportedCitation:
    raw = strict.record(value)
    title = strict.text(raw, "title", MAX_CITATION_TITLE_CHARS)
    url = strict.text(raw, "url", MAX_URL_CHARS, missing="")
    if not title or (url and not is_web_address(url)):
        strict.refuse()
    page = strict.whole(raw.get("page", 0), 0, MAX_PAGE)
    text = strict.text(raw, "text", MAX_PASSAGE_CHARS)
    place = places.get(strict.optional(strict.identifier, raw.get("attachment")) or "")
    return ImportedCitation(title, url, page, text, strict.optional(strict.moment, raw.get("created")), place)


def _check_roots(messages: list[ImportedMessage]) -> None:
    """Raise ConversationProblem for what the database refuses: a reply at the root, an empty question."""
    for message in messages:
        if message.role == USER and not (message.text or message.attachments):
            strict.refuse()
        if message.role == ASSISTANT and message.parent is None:
            raise ConversationProblem("parent")


def _feedback(value: Any) -> tuple[bool, str]:
    raw = strict.record(value)
    if raw.get("thumb") not in ("up", "down"):
        strict.refuse()
    return raw["thumb"] == "up", strict.text(raw, "reason", MAX_REASON_CHARS)


def _run(raw: Object) -> Object:
    """Return the known fields of an attempt, in the form in which it is exported again."""
    found: Object = {name: strict.text(raw, name, MAX_RUN_TEXT_CHARS, missing="") for name in RUN_TEXTS}
    if found["status"] in LIVE:
        found["status"] = IMPORTED_LIVE
    elif found["status"] not in ENDED:
        strict.refuse()
    found |= {
        "parameters": _plain(strict.record(raw.get("parameters"))),
        "max_tokens": strict.optional(strict.number, raw.get("max_tokens")),
    }
    found |= {name: written(strict.optional(strict.moment, raw.get(name))) for name in RUN_TIMES}
    return found | {"usage": strict.optional(_usage, raw.get("usage"))}


def _usage(value: Any) -> Object:
    raw = strict.record(value)
    return {name: strict.optional(strict.number, raw.get(name)) for name in USAGE_FIELDS}


def _plain(raw: Object) -> Object:
    """Return the parameters of an attempt, which must be numbers, booleans or short strings."""
    if len(raw) > MAX_PARAMETERS:
        strict.refuse()
    for name, value in raw.items():
        strict.string(name, MAX_PARAMETER_CHARS)
        if isinstance(value, str):
            strict.string(value, MAX_PARAMETER_CHARS)
        elif value is not None and not isinstance(value, bool):
            strict.number(value)
    return raw
