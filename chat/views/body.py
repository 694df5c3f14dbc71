"""What a call carries: JSON, also when labelled as an event stream, or a form. Checked field by field."""

import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

from chat.engine.refusal import Malformed, TooLong, WrongType
from chat.engine.turn import LEAF, Question

from .errors import is_form

LONGEST_QUESTION = 200_000  # code points
LONGEST_SYSTEM = 20_000  # code points
LONGEST_MODEL = 200
JSON_TYPES = ("application/json", "text/event-stream")


def question(request: HttpRequest, conversation: uuid.UUID | None) -> Question:
    """The question of a send. Raises Malformed, TooLong and WrongType."""
    fields = _form(request) if is_form(request) else _json(request)
    known = {"content", "client_key", "model", "system"} | ({"parent"} if conversation else set())
    if unknown := sorted(set(fields) - known):
        raise Malformed(f"There is no field “{unknown[0][:100]}”. There are: {', '.join(sorted(known))}.")
    content = _text(fields, "content", LONGEST_QUESTION, required=True)
    assert content is not None
    return Question(
        content=content,
        client_key=_key(fields, content, from_form=is_form(request)),
        conversation=conversation,
        parent=_field(fields, "parent", _uuid) if "parent" in fields else LEAF,
        model=_text(fields, "model", LONGEST_MODEL) or None,
        system=_text(fields, "system", LONGEST_SYSTEM),
    )


def _json(request: HttpRequest) -> dict[str, Any]:
    if request.content_type not in JSON_TYPES:
        raise WrongType("Send JSON (Content-Type: application/json) or an HTML form.")
    try:
        fields = json.loads(request.body)
    except RequestDataTooBig as error:
        raise TooLong("This is longer than 1 MiB. Send less.") from error
    except (ValueError, RecursionError, UnreadablePostError) as error:
        raise Malformed("This is not JSON.") from error
    if not isinstance(fields, dict):
        raise Malformed("Send a JSON object.")
    return fields


def _form(request: HttpRequest) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = request.POST.dict()
        if request.FILES:
            raise Malformed("Files are not taken here.")
    except RequestDataTooBig as error:
        raise TooLong("This is longer than 1 MiB. Send less.") from error
    except (MultiPartParserError, TooManyFieldsSent, TooManyFilesSent, UnreadablePostError) as error:
        raise Malformed("This form cannot be read.") from error
    fields.pop("csrfmiddlewaretoken", None)
    # A form has no null: an empty field says the same.
    for name in ("client_key", "parent", "model"):
        if fields.get(name) == "":
            fields[name] = None
    return fields


def _text(fields: Mapping[str, Any], name: str, longest: int, *, required: bool = False) -> str | None:
    value = fields.get(name)
    if value is None and not required:
        return None
    if not isinstance(value, str):
        raise Malformed(f"“{name}” must be text.")
    value = value.replace("\r\n", "\n")
    if required and not value.strip():
        raise Malformed(f"“{name}” is empty. Write something.")
    if len(value) > longest:
        raise TooLong(f"“{name}” has {len(value):,} characters; {longest:,} are the most that can be sent.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Malformed(f"“{name}” holds characters that are no text.")
    return value


def _key(fields: Mapping[str, Any], content: str, *, from_form: bool) -> uuid.UUID:
    """The client's key, or a new one. A form's stays while its page does, so its content counts too."""
    key = _field(fields, "client_key", _uuid) or uuid.uuid4()
    return uuid.uuid5(key, content) if from_form else key


def _field(fields: Mapping[str, Any], name: str, read: Callable[[Any], uuid.UUID]) -> uuid.UUID | None:
    value = fields.get(name)
    if value is None:
        return None
    try:
        return read(value)
    except ValueError as error:
        raise Malformed(f"“{name}” must be a UUID.") from error


def _uuid(value: Any) -> uuid.UUID:
    if not isinstance(value, str):
        raise ValueError("not a string")
    return uuid.UUID(value)
