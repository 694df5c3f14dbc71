"""This chat's own JSON, as `chat.transfer.document` writes it. A deviation refuses the conversation."""

import math
import uuid
from datetime import UTC, datetime
from typing import Any

from chat.attachments.receiving import MAX_ATTACHMENTS
from chat.limits import MAX_MODEL_CHARS
from chat.models import Message, Run
from chat.models.attachment import MAX_ALT_CHARS, MAX_FILE_NAME_CHARS
from chat.models.citation import (
    MAX_CITATION_TITLE_CHARS,
    MAX_CITATIONS,
    MAX_PASSAGE_CHARS,
    MAX_URL_CHARS,
    is_web_address,
)
from chat.models.conversation import TITLE_LENGTH
from chat.models.feedback import MAX_REASON_CHARS
from chat.models.tag import MAX_TAG_CHARS
from chat.transfer import assistants
from chat.transfer.document import (
    CONVERSATION_FORMAT,
    CONVERSATION_FORMAT_VERSION,
    RUN_TEXTS,
    RUN_TIMES,
    USAGE_FIELDS,
    Object,
    written,
)
from chat.transfer.imported import (
    ATTACHMENT_FILE,
    MAX_IMPORTED_TEXT_CHARS,
    MAX_SHORT_FIELD_CHARS,
    ImportedAttachment,
    ImportedCitation,
    ImportedConversation,
    ImportedMessage,
)
from chat.transfer.problems import ConversationProblem
from chat.upstream.parameters import CHOSEN_PARAMETERS
from chat.wire.text import sanitize

MAX_RUNS = 200  # attempts at one reply
MAX_TAGS = 50
MAX_RUN_TEXT_CHARS = 500
MAX_PARAMETERS = 50
MAX_PARAMETER_CHARS = 1_000
MAX_NUMBER = 1e15
MAX_PAGE = 1_000_000
IMPORTED_LIVE = Run.Status.INTERRUPTED  # status of an imported attempt that was live when it was exported


Places = dict[str, tuple[str, int]]  # {id of an attachment: (key of its message, its position there)}


def matches(value: dict[str, Any]) -> bool:
    return value.get("format") == CONVERSATION_FORMAT


def conversation(value: dict[str, Any]) -> ImportedConversation:
    if value.get("version") != CONVERSATION_FORMAT_VERSION:
        raise ConversationProblem("version" if isinstance(value.get("version"), int) else "invalid")
    places: Places = {}
    messages = [_message(_record(raw), places) for raw in _list(value, "messages", None)]
    _check_roots(messages)
    return ImportedConversation(
        source="chat",
        key=_id(value.get("id")) or _invalid(),
        title=_text(value, "title", TITLE_LENGTH),
        messages=messages,
        leaf=_id(value.get("active_leaf")) or "",
        model=_text(value, "model", MAX_MODEL_CHARS),
        system=_text(value, "system", MAX_IMPORTED_TEXT_CHARS),
        parameters=_choices(_record(value.get("parameters"))),
        created=_time(value.get("created")) or _invalid(),
        updated=_time(value.get("updated")) or _invalid(),
        pinned_at=_time(value.get("pinned_at")),
        archived_at=_time(value.get("archived_at")),
        assistant=assistants.reference(value.get("assistant")),
        tags=[_string(tag, MAX_TAG_CHARS) for tag in _list(value, "tags", MAX_TAGS)],
    )


def _message(raw: Object, places: Places) -> ImportedMessage:
    """Return a message. `places` gets its attachments, and has those of the messages above it."""
    role = _text(raw, "role", MAX_SHORT_FIELD_CHARS)
    if role not in Message.Role.values:
        _invalid()
    key = _id(raw.get("id")) or _invalid()
    attachments = [_record(each) for each in _list(raw, "attachments", MAX_ATTACHMENTS)]
    places |= {own: (key, at) for at, each in enumerate(attachments) if (own := _id(each.get("id")))}
    return ImportedMessage(
        key=key,
        parent=_id(raw.get("parent")),
        role=role,
        text=_text(raw, "text", MAX_IMPORTED_TEXT_CHARS),
        reasoning=_text(raw, "reasoning", MAX_IMPORTED_TEXT_CHARS),
        model=_text(raw, "model", MAX_MODEL_CHARS),
        created=_time(raw.get("created")) or _invalid(),
        selected_at=_time(raw.get("selected_at")),
        feedback=_feedback(raw.get("feedback")),
        runs=[_run(_record(run)) for run in _list(raw, "runs", MAX_RUNS)],
        attachments=[_attachment(each) for each in attachments],
        citations=[_citation(_record(each), places) for each in _list(raw, "citations", MAX_CITATIONS)],
    )


def _attachment(raw: Object) -> ImportedAttachment:
    """Return a picture or document. Only its file says what it is: type, size and pages are not believed."""
    file = _text(raw, "file", MAX_SHORT_FIELD_CHARS)
    if not ATTACHMENT_FILE.fullmatch(file):
        _invalid()
    return ImportedAttachment(file, _text(raw, "name", MAX_FILE_NAME_CHARS), _text(raw, "alt", MAX_ALT_CHARS))


def _citation(raw: Object, places: Places) -> ImportedCitation:
    title, url = _text(raw, "title", MAX_CITATION_TITLE_CHARS), _text(raw, "url", MAX_URL_CHARS, missing="")
    page = raw.get("page", 0)
    if not title or (url and not is_web_address(url)):
        _invalid()
    if not isinstance(page, int) or isinstance(page, bool) or not 0 <= page <= MAX_PAGE:
        _invalid()
    text = _text(raw, "text", MAX_PASSAGE_CHARS)
    place = places.get(_id(raw.get("attachment")) or "")
    return ImportedCitation(title, url, page, text, _time(raw.get("created")), place)


def _check_roots(messages: list[ImportedMessage]) -> None:
    """Raise ConversationProblem for what the database refuses: a reply at the root, an empty question."""
    for message in messages:
        if message.role == Message.Role.USER and not (message.text or message.attachments):
            _invalid()
        if message.role == Message.Role.ASSISTANT and message.parent is None:
            raise ConversationProblem("parent")


def _feedback(value: Any) -> tuple[bool, str] | None:
    if value is None:
        return None
    raw = _record(value)
    if raw.get("thumb") not in ("up", "down"):
        _invalid()
    return raw["thumb"] == "up", _text(raw, "reason", MAX_REASON_CHARS)


def _run(raw: Object) -> Object:
    """Return the known fields of an attempt, in the form in which it is exported again."""
    found: Object = {name: _text(raw, name, MAX_RUN_TEXT_CHARS, missing="") for name in RUN_TEXTS}
    if found["status"] not in Run.Status.values:
        _invalid()
    if found["status"] in (Run.Status.QUEUED, Run.Status.RUNNING):
        found["status"] = IMPORTED_LIVE.value
    found |= {
        "parameters": _plain(_record(raw.get("parameters"))),
        "max_tokens": _number(raw.get("max_tokens")),
    }
    found |= {name: written(_time(raw.get(name))) for name in RUN_TIMES}
    usage = None if raw.get("usage") is None else _record(raw["usage"])
    return found | {
        "usage": None if usage is None else {name: _number(usage.get(name)) for name in USAGE_FIELDS}
    }


def _choices(raw: Object) -> Object:
    """Return the known and valid parameters; another version may have written others."""
    return {
        name: value
        for name, value in raw.items()
        if name in CHOSEN_PARAMETERS and CHOSEN_PARAMETERS[name].is_valid(value)
    }


def _plain(raw: Object) -> Object:
    """Return the parameters of an attempt, which must be numbers, booleans or short strings."""
    if len(raw) > MAX_PARAMETERS:
        _invalid()
    for name, value in raw.items():
        _string(name, MAX_PARAMETER_CHARS)
        if isinstance(value, str):
            _string(value, MAX_PARAMETER_CHARS)
        elif not isinstance(value, bool):
            _number(value)
    return raw


def _number(value: Any) -> int | float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        _invalid()
    if not math.isfinite(value) or abs(value) > MAX_NUMBER:
        _invalid()
    return value


def _text(raw: Object, name: str, longest: int, *, missing: Any = None) -> str:
    return _string(raw.get(name, missing), longest)


def _string(value: Any, longest: int) -> str:
    if not isinstance(value, str):
        _invalid()
    if len(value) > longest:
        raise ConversationProblem("long")
    if sanitize(value) != value:
        raise ConversationProblem("text")
    return value


def _list(raw: Object, name: str, most: int | None) -> list[Any]:
    value = raw.get(name, [])
    if not isinstance(value, list) or (most is not None and len(value) > most):
        _invalid()
    return value


def _record(value: Any) -> Object:
    return value if isinstance(value, dict) else _invalid()


def _id(value: Any) -> str | None:
    """Return a UUID in its canonical form; None for null."""
    if value is None:
        return None
    try:
        return str(uuid.UUID(value)) if isinstance(value, str) else _invalid()
    except ValueError:
        return _invalid()


def _time(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else _invalid()
        return found.astimezone(UTC) if found.tzinfo else _invalid()
    except (ValueError, OverflowError):
        return _invalid()


def _invalid() -> Any:
    raise ConversationProblem("invalid")
