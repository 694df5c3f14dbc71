"""The fields of a call: JSON, also when labelled as an event stream, or a form. Checked one by one."""

import json
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

from chat.engine.refusal import Malformed, TooLong, WrongType

from .errors import is_form

JSON_TYPES = ("application/json", "text/event-stream")
NULLABLE = ("client_key", "parent", "model")  # a form has no null: an empty field says the same


def read(request: HttpRequest, *known: str, required: bool = True) -> dict[str, Any]:
    """The call's fields, all of them `known`; a call that needs none may come without a body.

    Raises Malformed, TooLong and WrongType.
    """
    if is_form(request):
        fields = _form(request)
    elif not required and not request.content_type and not _body(request):
        fields = {}
    else:
        fields = _json(request)
    if unknown := sorted(set(fields) - set(known)):
        raise Malformed(f"There is no field “{unknown[0][:100]}”. {_offer(known)}")
    return fields


def text(fields: Mapping[str, Any], name: str, longest: int, *, required: bool = False) -> str | None:
    """With its line breaks as "\\n". Raises Malformed and TooLong."""
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


def key(fields: Mapping[str, Any], name: str) -> uuid.UUID | None:
    """Raises Malformed for what is no UUID."""
    value = fields.get(name)
    if value is None:
        return None
    try:
        return _uuid(value)
    except ValueError as error:
        raise Malformed(f"“{name}” must be a UUID.") from error


def _uuid(value: Any) -> uuid.UUID:
    if not isinstance(value, str):
        raise ValueError("not a string")
    return uuid.UUID(value)


def _offer(known: Collection[str]) -> str:
    return f"There are: {', '.join(sorted(known))}." if known else "This call takes none."


def _json(request: HttpRequest) -> dict[str, Any]:
    if request.content_type not in JSON_TYPES:
        raise WrongType("Send JSON (Content-Type: application/json) or an HTML form.")
    try:
        fields = json.loads(_body(request))
    except (ValueError, RecursionError) as error:
        raise Malformed("This is not JSON.") from error
    if not isinstance(fields, dict):
        raise Malformed("Send a JSON object.")
    return fields


def _body(request: HttpRequest) -> bytes:
    try:
        return request.body
    except RequestDataTooBig as error:
        raise TooLong("This is longer than 1 MiB. Send less.") from error
    except UnreadablePostError as error:
        raise Malformed("This call ended before its end.") from error


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
    return {name: None if value == "" and name in NULLABLE else value for name, value in fields.items()}
