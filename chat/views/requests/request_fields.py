"""The kind of a request, and the fields of its body with their checks.

The body is a form, or JSON, also if it is labelled text/event-stream.
"""

import re
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, PayloadTooLarge, UnsupportedMediaType
from chat.files.receiving import FILE_INPUT, IMAGE_INPUT
from chat.formats import grouped_number
from chat.wire import strict_json

INVALID_CHARACTER = re.compile("[\0\ud800-\udfff]")  # NUL, which PostgreSQL cannot store, and lone surrogates
MAX_NUMBER_DIGITS = 5  # of a number of the query, such as a page's
JSON_CONTENT_TYPES = ("application/json", "text/event-stream")
# Fields that a form has once for each value.
REPEATED_FIELDS = ("attachments", "documents", "groups", "questions", "tools")
SWITCHED = {"on": True, "off": False}  # form values of a switch
# A form has no null: an empty field means the same.
NULLABLE = ("client_key", "parent", "model", "assistant", "web_search")
# The prefixes of paths without pages.
NO_PAGES = ("/runs/", "/messages/", "/prompts/", "/attachments/", "/models/", "/v1/", "/client/")


def is_form(request: HttpRequest) -> bool:
    """Return True if the body is a plain HTML form."""
    return request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data")


def is_part(request: HttpRequest) -> bool:
    """Return True if a script of our own page requests a part of a page."""
    return request.headers.get("X-Requested-With") == "fetch"


def is_navigation(request: HttpRequest) -> bool:
    """Return True if a browser shows the response as a page, and no script reads it."""
    return request.headers.get("Sec-Fetch-Mode") == "navigate"


def wants_json(request: HttpRequest) -> bool:
    """Return True if a program or a script gets the response, in JSON, and not a person, with a page.

    Decided by the Content-Type, then by `is_part`, then by Accept. Many programs accept "*/*", so a request
    that is neither an HTML form nor for a page gets JSON, too.
    """
    if request.content_type in JSON_CONTENT_TYPES or is_part(request):
        return True
    accept = request.headers.get("Accept", "")
    if "text/html" in accept:
        return False
    if "application/json" in accept or "text/event-stream" in accept:
        return True
    is_call = request.method not in ("GET", "HEAD") and not is_form(request)
    return is_call or request.path.startswith(NO_PAGES)


def parse(request: HttpRequest, *known: str, required: bool = True) -> dict[str, Any]:
    """Return the body's fields. With `required` False the body may be missing.

    Raises BadRequest (also for a field that is not `known`), PayloadTooLarge and UnsupportedMediaType.
    """
    if is_form(request):
        fields = _form(request)
    elif not required and not request.content_type and not _body(request):
        fields = {}
    else:
        fields = _json(request)
    if unknown := sorted(set(fields) - set(known)):
        unfit = _("Unknown field “%(name)s”.") % {"name": unknown[0][:100]}
        raise BadRequest(f"{unfit} {listed_choices(known)}")
    return fields


def parse_text(fields: Mapping[str, Any], name: str, longest: int, *, required: bool = False) -> str | None:
    """Return a text field with its line breaks as "\\n"; None if missing and not `required`.

    Raises BadRequest, and PayloadTooLarge beyond `longest` code points.
    """
    value = fields.get(name)
    if value is None and not required:
        return None
    if not isinstance(value, str):
        raise BadRequest(_("“%(name)s” must be a string.") % {"name": name})
    value = value.replace("\r\n", "\n")
    if required and not value.strip():
        raise BadRequest(_("“%(name)s” can’t be empty.") % {"name": name})
    if len(value) > longest:
        sizes = {"name": name, "length": grouped_number(len(value)), "longest": grouped_number(longest)}
        words = _("“%(name)s” has %(length)s characters; the limit is %(longest)s.")
        if name == "content":  # typed by a person, who does not know field names
            words = _("Your message has %(length)s characters; the limit is %(longest)s.")
        raise PayloadTooLarge(words % sizes)
    if INVALID_CHARACTER.search(value):
        raise BadRequest(_("“%(name)s” contains characters that aren’t valid text.") % {"name": name})
    return value


def parse_choice(fields: Mapping[str, Any], name: str, allowed: tuple[str, ...], default: str) -> str:
    """Return the field's value, or `default` if it is missing. Raises BadRequest."""
    value = fields.get(name, default)
    if value not in allowed:
        words = _("“%(name)s” must be one of: %(names)s.")
        raise BadRequest(words % {"name": name, "names": ", ".join(allowed)})
    return str(value)


def parse_switch(request: HttpRequest, fields: Mapping[str, Any], name: str) -> bool:
    """Return a boolean, which a form writes as `on` or `off`; False if it is missing. Raises BadRequest."""
    value = fields.get(name, False)
    if is_form(request):
        value = SWITCHED.get(value, value)
    if not isinstance(value, bool):
        raise BadRequest(_("“%(name)s” must be true or false.") % {"name": name})
    return value


def parse_uuid(fields: Mapping[str, Any], name: str) -> uuid.UUID | None:
    """Return a UUID field, None if it is missing. Raises BadRequest when it is no UUID."""
    value = fields.get(name)
    if value is None:
        return None
    try:
        return _uuid(value)
    except ValueError as error:
        raise BadRequest(_("“%(name)s” must be a UUID.") % {"name": name}) from error


def parse_uuids(fields: Mapping[str, Any], name: str) -> tuple[uuid.UUID, ...]:
    """Return a list of UUIDs, each once. Raises BadRequest."""
    try:
        values = fields.get(name)
        if not isinstance(values, list):
            raise ValueError("not a list")
        return tuple(dict.fromkeys(map(_uuid, values)))
    except ValueError as error:
        raise BadRequest(_("“%(name)s” must be a list of UUIDs.") % {"name": name}) from error


def _uuid(value: Any) -> uuid.UUID:
    if not isinstance(value, str):
        raise ValueError("not a string")
    return uuid.UUID(value)


def query_number(request: HttpRequest, name: str, default: int | None = None) -> int | None:
    """Return a number of the query, `default` without it; None if it is not one or has too many digits."""
    text = request.GET.get(name)
    if text is None:
        return default
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER_DIGITS else None


def listed_choices(known: Collection[str]) -> str:
    """Return a sentence that lists the known names, for the error about an unknown one."""
    if not known:
        return _("No fields are accepted here.")
    return _("Accepted fields: %(names)s.") % {"names": ", ".join(sorted(known))}


def _json(request: HttpRequest) -> dict[str, Any]:
    if request.content_type not in JSON_CONTENT_TYPES:
        raise UnsupportedMediaType(_("Send JSON (Content-Type: application/json) or an HTML form."))
    try:
        fields = strict_json.loads(_body(request))
    except strict_json.InvalidJSON as error:
        raise BadRequest(_(str(error))) from error
    if not isinstance(fields, dict):
        raise BadRequest(_("Send a JSON object."))
    return fields


def _body(request: HttpRequest) -> bytes:
    try:
        return request.body
    except RequestDataTooBig as error:
        raise PayloadTooLarge(_("The request is larger than 1 MiB. Send less.")) from error
    except UnreadablePostError as error:
        raise BadRequest(_("The request ended before it was complete.")) from error


def _form(request: HttpRequest) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = request.POST.dict()
        fields |= {name: request.POST.getlist(name) for name in REPEATED_FIELDS if name in fields}
        if request.FILES:
            raise BadRequest(_("File uploads aren’t accepted here."))
    except RequestDataTooBig as error:
        raise PayloadTooLarge(_("The request is larger than 1 MiB. Send less.")) from error
    except (MultiPartParserError, TooManyFieldsSent, TooManyFilesSent, UnreadablePostError) as error:
        raise BadRequest(_("The form data can’t be read.")) from error
    fields.pop("csrfmiddlewaretoken", None)
    if hasattr(request, "attachment_form"):
        for name in (FILE_INPUT, IMAGE_INPUT):
            fields.pop(name, None)  # of a form in which no file was chosen, Django makes a field
    return {name: None if value == "" and name in NULLABLE else value for name, value in fields.items()}
