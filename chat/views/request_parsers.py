"""Parsing of request bodies into turns and other typed values.

Every function raises BadRequest, PayloadTooLarge and UnsupportedMediaType.
"""

import uuid
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, PayloadTooLarge
from chat.formats import grouped_number
from chat.models.conversation import TITLE_LENGTH
from chat.models.feedback import LONGEST_REASON
from chat.turns.commands import LEAF, ContinueReply, EditMessage, RegenerateReply, SendMessage

from . import parameter_fields, request_fields
from .errors import is_form

MAX_QUESTION_CHARS = 200_000  # code points
MAX_SYSTEM_CHARS = 20_000  # code points
MAX_MODEL_CHARS = 200
MAX_BODY_BYTES = 1_048_576  # bytes; as the limit of a text field it is never reached
THUMBS = {"up": True, "down": False, "none": None}


def question(request: HttpRequest, conversation: uuid.UUID | None) -> SendMessage:
    """Parse a new question; `conversation` None starts a conversation."""
    more = ["parent"] if conversation else []
    known = ["content", "client_key", "model", "system", *parameter_fields.names(request)]
    sent = request_fields.parse(request, *known, *more)
    content = _content(sent)
    return SendMessage(
        content=content,
        client_key=_client_key(request, sent, content),
        conversation=conversation,
        parent=request_fields.parse_uuid(sent, "parent") if "parent" in sent else LEAF,
        model=_model(sent),
        system=request_fields.parse_text(sent, "system", MAX_SYSTEM_CHARS),
        parameters=parameter_fields.read(request, sent),
    )


def edit(request: HttpRequest, message: uuid.UUID) -> EditMessage:
    """Parse the edited version of the question `message`."""
    sent = request_fields.parse(
        request, "content", "client_key", "model", "system", *parameter_fields.names(request)
    )
    content = _content(sent)
    key = _client_key(request, sent, f"edit {message} {content}")
    system = request_fields.parse_text(sent, "system", MAX_SYSTEM_CHARS)
    return EditMessage(message, content, key, _model(sent), system, parameter_fields.read(request, sent))


def regeneration(request: HttpRequest, message: uuid.UUID) -> RegenerateReply:
    sent = request_fields.parse(
        request, "client_key", "model", *parameter_fields.names(request), required=False
    )
    model = _model(sent)
    key = _client_key(request, sent, f"regenerate {message} {model}")
    return RegenerateReply(message, key, model, parameter_fields.read(request, sent))


def continuation(request: HttpRequest, message: uuid.UUID) -> ContinueReply:
    sent = request_fields.parse(request, "client_key", *parameter_fields.names(request), required=False)
    key = _client_key(request, sent, f"continue {message}")
    return ContinueReply(message, key, parameter_fields.read(request, sent))


def feedback(request: HttpRequest) -> tuple[bool | None, str]:
    """Parse `{"thumb": "up" | "down" | "none", "reason"?}` into (True, False or None; reason or "")."""
    sent = request_fields.parse(request, "thumb", "reason")
    thumb = sent.get("thumb")
    if not isinstance(thumb, str) or thumb not in THUMBS:
        words = _("“%(name)s” must be one of: %(names)s.")
        raise BadRequest(words % {"name": "thumb", "names": ", ".join(THUMBS)})
    return THUMBS[thumb], (request_fields.parse_text(sent, "reason", LONGEST_REASON) or "").strip()


def title(request: HttpRequest) -> str:
    """Parse a conversation's new title, with its white space collapsed to one line."""
    sent = request_fields.parse(request, "title")
    line = " ".join((request_fields.parse_text(sent, "title", MAX_BODY_BYTES, required=True) or "").split())
    if len(line) > TITLE_LENGTH:
        words = _("The title has %(length)s characters; %(longest)s are the most.")
        raise PayloadTooLarge(words % {"length": grouped_number(len(line)), "longest": TITLE_LENGTH})
    return line


def settings(request: HttpRequest) -> dict[str, Any]:
    """Parse the changes to a conversation's `model`, `system` and `parameters`: those that were sent."""
    sent = request_fields.parse(request, "model", "system", *parameter_fields.names(request))
    found = {
        "model": _model(sent),
        "system": request_fields.parse_text(sent, "system", MAX_SYSTEM_CHARS),
        "parameters": parameter_fields.read(request, sent),
    }
    changed = {name: value for name, value in found.items() if value is not None}
    if not changed:
        raise BadRequest(_("Send “model”, “system” or “parameters”."))
    return changed


def no_fields(request: HttpRequest) -> None:
    """Accept only a body without fields, or no body."""
    request_fields.parse(request, required=False)


def _content(sent: dict[str, Any]) -> str:
    content = request_fields.parse_text(sent, "content", MAX_QUESTION_CHARS, required=True)
    assert content is not None
    return content


def _model(sent: dict[str, Any]) -> str | None:
    return request_fields.parse_text(sent, "model", MAX_MODEL_CHARS) or None


def _client_key(request: HttpRequest, sent: dict[str, Any], asked: str) -> uuid.UUID:
    """Return the client's key for this turn (idempotency), or a new one.

    A form keeps its key while its page is open, so there the content `asked` is hashed into the key.
    """
    key = request_fields.parse_uuid(sent, "client_key") or uuid.uuid4()
    return uuid.uuid5(key, asked) if is_form(request) else key
