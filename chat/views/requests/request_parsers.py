"""Parsing of request bodies into commands and other typed values.

The functions raise BadRequest, PayloadTooLarge and UnsupportedMediaType. The parameters of a conversation
are an object in JSON, and one field each in a form.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings as site_settings
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.conversations.tools.registry import offered
from chat.conversations.turns.commands import LEAF, ContinueReply, EditMessage, RegenerateReply, SendMessage
from chat.exceptions import BadRequest, PayloadTooLarge
from chat.formats import grouped_number
from chat.limits import MAX_ATTACHMENTS, MAX_BODY_BYTES, MAX_MODEL_CHARS, MAX_REASON_CHARS, TITLE_LENGTH
from chat.models import Step
from chat.models.message import THUMBS
from chat.upstream.parameters import CHOSEN_PARAMETERS, LEVEL, NUMBER, SWITCH, Parameter, Value

from . import access, request_fields
from .request_fields import is_form

MAX_QUESTION_CHARS = 200_000  # code points
MAX_SYSTEM_CHARS = 20_000  # code points
GIVEN_THUMBS = {name: up for up, name in THUMBS.items()}
PARAMETERS_FIELD = "parameters"
ATTACHMENTS_FIELD = "attachments"
TOOLS_FIELD = "tools"
RESET_VALUE = "reset"  # value of PARAMETERS_FIELD in a form: reset all parameters


def question(
    request: HttpRequest, conversation: uuid.UUID | None, attached: Sequence[uuid.UUID] = ()
) -> SendMessage:
    """Parse a new question; `conversation` None starts a conversation.

    `attached`: ids of the files that came with the form.
    """
    more = ["parent"] if conversation else ["temporary", "assistant"]
    known = ["content", "client_key", "model", "system", ATTACHMENTS_FIELD, TOOLS_FIELD]
    known += parameter_fields(request)
    sent = request_fields.parse(request, *known, *more)
    attachments = _at_most((*(_attachments(sent) or ()), *attached))
    content = _content(sent, required=not attachments and not is_form(request))
    if not content and not attachments:
        raise BadRequest(_nothing_sent())
    return SendMessage(
        content=content,
        client_key=_client_key(request, sent, " ".join([content, *map(str, attachments)])),
        conversation=conversation,
        parent=request_fields.parse_uuid(sent, "parent") if "parent" in sent else LEAF,
        model=_model(sent),
        system=request_fields.parse_text(sent, "system", MAX_SYSTEM_CHARS),
        parameters=sent_parameters(request, sent),
        temporary=request_fields.parse_switch(request, sent, "temporary"),
        attachments=attachments,
        assistant=request_fields.parse_uuid(sent, "assistant"),
        tools=_tools(request, sent),
    )


def edit(request: HttpRequest, message: uuid.UUID) -> EditMessage:
    """Parse the edited version of the question `message`."""
    known = ["content", "client_key", "model", "system", ATTACHMENTS_FIELD, TOOLS_FIELD]
    sent = request_fields.parse(request, *known, *parameter_fields(request))
    content = _content(sent, required=False)  # the question may have attachments: see the planner
    attachments = _attachments(sent)
    key = _client_key(request, sent, f"edit {message} {content}")
    system = request_fields.parse_text(sent, "system", MAX_SYSTEM_CHARS)
    parameters = sent_parameters(request, sent)
    return EditMessage(
        message, content, key, _model(sent), system, parameters, attachments, _tools(request, sent)
    )


def regeneration(request: HttpRequest, message: uuid.UUID) -> RegenerateReply:
    known = ["client_key", "model", TOOLS_FIELD, *parameter_fields(request)]
    sent = request_fields.parse(request, *known, required=False)
    model = _model(sent)
    key = _client_key(request, sent, f"regenerate {message} {model}")
    return RegenerateReply(message, key, model, sent_parameters(request, sent), _tools(request, sent))


def continuation(request: HttpRequest, message: uuid.UUID) -> ContinueReply:
    sent = request_fields.parse(request, "client_key", *parameter_fields(request), required=False)
    key = _client_key(request, sent, f"continue {message}")
    return ContinueReply(message, key, sent_parameters(request, sent))


def feedback(request: HttpRequest) -> tuple[bool | None, str]:
    """Parse `{"thumb": "up" | "down" | "none", "reason"?}` into (True, False or None; reason or "")."""
    sent = request_fields.parse(request, "thumb", "reason")
    thumb = sent.get("thumb")
    if not isinstance(thumb, str) or thumb not in GIVEN_THUMBS:
        words = _("“%(name)s” must be one of: %(names)s.")
        raise BadRequest(words % {"name": "thumb", "names": ", ".join(GIVEN_THUMBS)})
    return GIVEN_THUMBS[thumb], (request_fields.parse_text(sent, "reason", MAX_REASON_CHARS) or "").strip()


def step_permission(request: HttpRequest) -> Step.Answer:
    """Parse `{"for"?: "once" | "conversation"}`; once by default."""
    sent = request_fields.parse(request, "for", required=False).get("for", Step.Answer.ONCE)
    if sent not in (names := [Step.Answer.ONCE, Step.Answer.CONVERSATION]):
        words = _("“%(name)s” must be one of: %(names)s.")
        raise BadRequest(words % {"name": "for", "names": ", ".join(names)})
    return Step.Answer(sent)


def step_refusal(request: HttpRequest) -> Step.Answer:
    no_fields(request)
    return Step.Answer.DECLINED


def title(request: HttpRequest) -> str:
    """Parse a conversation's new title, with its white space collapsed to one line."""
    sent = request_fields.parse(request, "title")
    return title_field(sent, required=True) or ""


def title_field(sent: Mapping[str, Any], *, required: bool = False) -> str | None:
    """Return the field `title` with its white space collapsed; None if it is blank and not `required`."""
    # The limit is that of the line: the field may have more white space, up to the size of a body.
    text = request_fields.parse_text(sent, "title", MAX_BODY_BYTES, required=required)
    line = " ".join((text or "").split())
    if len(line) > TITLE_LENGTH:
        words = _("The title has %(length)s characters; the limit is %(longest)s.")
        raise PayloadTooLarge(words % {"length": grouped_number(len(line)), "longest": TITLE_LENGTH})
    return line or None


def settings(request: HttpRequest) -> dict[str, Any]:
    """Parse the changes to a conversation's `model`, `system` and `parameters`: those that were sent."""
    sent = request_fields.parse(request, "model", "system", *parameter_fields(request))
    values = {
        "model": _model(sent),
        "system": request_fields.parse_text(sent, "system", MAX_SYSTEM_CHARS),
        "parameters": sent_parameters(request, sent),
    }
    changed = {name: value for name, value in values.items() if value is not None}
    if not changed:
        raise BadRequest(_("Send “model”, “system” or “parameters”."))
    return changed


def no_fields(request: HttpRequest) -> None:
    """Accept only a body without fields, or no body."""
    request_fields.parse(request, required=False)


def _content(sent: dict[str, Any], *, required: bool) -> str:
    """Return the question's text; "" if it is blank and not `required`."""
    content = request_fields.parse_text(sent, "content", MAX_QUESTION_CHARS, required=required) or ""
    return content if content.strip() else ""


def _nothing_sent() -> str:
    """Return what to say to a person, who does not know field names."""
    return _("Write a message or add a file.") if site_settings.ATTACHMENTS else _("Write a message.")


def _attachments(sent: dict[str, Any]) -> tuple[uuid.UUID, ...] | None:
    """Return the ids of a question's attachments, each once; None if the field was not sent."""
    if sent.get(ATTACHMENTS_FIELD) is None:
        return None
    return _at_most(request_fields.parse_uuids(sent, ATTACHMENTS_FIELD))


def _tools(request: HttpRequest, sent: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the names of the tools that replies may use; None if the field was not sent.

    A form sends an empty name with the checked ones, because it would send nothing if none is checked.
    """
    names = sent.get(TOOLS_FIELD)
    if names is None:
        return None
    known = offered(access.get_user(request))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadRequest(_("“%(name)s” must be a list of names.") % {"name": TOOLS_FIELD})
    wanted = dict.fromkeys(name for name in names if name)
    if unknown := [name for name in wanted if name not in known]:
        words = _("There is no tool “%(name)s” here.") % {"name": unknown[0][:100]}
        raise BadRequest(f"{words} {request_fields.listed_choices(known)}" if known else words)
    return tuple(wanted)


def _at_most(ids: tuple[uuid.UUID, ...]) -> tuple[uuid.UUID, ...]:
    if len(ids) > MAX_ATTACHMENTS:
        words = _("A message can have %(most)s files. Remove some.")
        raise BadRequest(words % {"most": MAX_ATTACHMENTS})
    return ids


def _model(sent: dict[str, Any]) -> str | None:
    return request_fields.parse_text(sent, "model", MAX_MODEL_CHARS) or None


def _client_key(request: HttpRequest, sent: dict[str, Any], content: str) -> uuid.UUID:
    """Return the client's key for this turn (idempotency), or a new one.

    A form keeps its key while its page is open, so there `content` is hashed into the key.
    """
    key = request_fields.parse_uuid(sent, "client_key") or uuid.uuid4()
    return uuid.uuid5(key, content) if is_form(request) else key


def parameter_fields(request: HttpRequest) -> list[str]:
    """Return the names of the request's fields that can hold parameters."""
    return [*CHOSEN_PARAMETERS, PARAMETERS_FIELD] if is_form(request) else [PARAMETERS_FIELD]


def sent_parameters(request: HttpRequest, sent: dict[str, Any]) -> dict[str, Value | None] | None:
    """Return the sent parameters, a value of None resetting one; None if none was sent. Raises BadRequest."""
    if is_form(request) and sent.get(PARAMETERS_FIELD) == RESET_VALUE:
        return dict.fromkeys(CHOSEN_PARAMETERS)
    if is_form(request) and PARAMETERS_FIELD not in sent:
        parameters = {
            name: _parameter_value(CHOSEN_PARAMETERS[name], sent[name])
            for name in CHOSEN_PARAMETERS
            if name in sent
        }
    elif sent.get(PARAMETERS_FIELD) is None:
        return None
    else:
        parameters = sent[PARAMETERS_FIELD]
        if not isinstance(parameters, dict):
            raise BadRequest(_("“%(name)s” must be a JSON object.") % {"name": PARAMETERS_FIELD})
    for name, value in parameters.items():
        _check_parameter(name, value)
    return parameters or None


def _parameter_value(parameter: Parameter, text: str) -> Any:
    """Convert a form's text: an empty field to None; what cannot be converted stays text, for the check."""
    text = text.strip()
    if not text:
        return None
    if parameter.kind == SWITCH:
        return request_fields.SWITCHED.get(text, text)
    if parameter.kind == LEVEL:
        return text
    try:
        return float(text) if parameter.kind == NUMBER else int(text)
    except ValueError:
        return text


def _check_parameter(name: str, value: Any) -> None:
    parameter = CHOSEN_PARAMETERS.get(name)
    if parameter is None:
        unknown = _("Unknown parameter “%(name)s”.") % {"name": name[:100]}
        raise BadRequest(f"{unknown} {request_fields.listed_choices(CHOSEN_PARAMETERS)}")
    if value is not None and not parameter.is_valid(value):
        raise BadRequest(_unfit(parameter))


def _unfit(parameter: Parameter) -> str:
    about = {
        "name": parameter.name,
        "least": grouped_number(parameter.minimum),
        "most": grouped_number(parameter.maximum),
        "names": ", ".join(parameter.levels),
    }
    if parameter.kind == SWITCH:
        return _("“%(name)s” must be true or false.") % about
    if parameter.kind == LEVEL:
        return _("“%(name)s” must be one of: %(names)s.") % about
    if parameter.kind == NUMBER:
        return _("“%(name)s” must be a number between %(least)s and %(most)s.") % about
    return _("“%(name)s” must be a whole number between %(least)s and %(most)s.") % about
