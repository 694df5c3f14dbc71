"""Parsing of a call's body, each field checked.

Unknown fields are ignored, as other servers of this API do. Documented fields are supported or rejected by
name, except those without an effect on the reply, which are ignored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, PayloadTooLarge
from chat.limits import MAX_BODY_BYTES
from chat.upstream.parameters import API_NUMBERS, MAX_TOKENS, WHOLE
from chat.wire import strict_json

from .field_checks import Object, get_field, get_objects, plain_text, refuse_choice, within
from .messages import MAX_TOOLS, messages_of
from .unsupported_fields import refuse_unsupported

# A slash may be escaped in JSON.
DATA_URLS = re.compile(
    rb"data:[A-Za-z0-9.+-]{1,100}\\?/[A-Za-z0-9.+-]{1,100};base64,[A-Za-z0-9+/=\\]+"
    rb'|"image"\s{0,9}:\s{0,9}(?:"[A-Za-z0-9+/=\\]+"|\[[0-9,\s]+\])'  # see classic_image.py
)
UPLOAD = "chat.upload"  # in the scope of a request whose body is in a file: see chatsite/server
OBJECTS = ("response_format", "logit_bias", "chat_template_kwargs")
RESPONSE_FORMAT_TYPES = ("text", "json_object", "json_schema")
TOOL_CHOICES = ("none", "auto", "required", "any")
MAX_STOPS, MAX_STOP_CHARS = 16, 1_000
REJECT_IF_BUSY = "rejectIfBusy"  # https://developers.cloudflare.com/workers-ai/features/reject-if-busy/
MAX_QUOTED_CHARS = 100  # of an unknown field's name in the error


@dataclass(frozen=True, slots=True)
class CompletionParams:
    """The parsed fields of a call. `lora` names an adapter; `parameters` are passed on to the model.

    `max_tokens` None: the model's default. `raw`: the one message is all that the model reads, without its
    chat template.
    """

    messages: list[Object]
    stream: bool = False
    include_usage: bool = False
    max_tokens: int | None = None
    raw: bool = False
    lora: str = ""
    parameters: Object = field(default_factory=dict)


def parse_body(request: HttpRequest) -> Object:
    """Return the body as a JSON object, whatever the Content-Type: curl labels its data as a form.

    Raises BadRequest and PayloadTooLarge.
    """
    try:
        body = _large_body(request) if UPLOAD in getattr(request, "scope", {}) else request.body
        sent = strict_json.loads(body)
    except RequestDataTooBig as error:
        raise PayloadTooLarge(_("The request is larger than 1 MiB. Send less.")) from error
    except UnreadablePostError as error:
        raise BadRequest(_("The request ended before it was complete.")) from error
    except strict_json.InvalidJSON as error:
        raise BadRequest(_(str(error))) from error
    if not isinstance(sent, dict):
        raise BadRequest(_("Send a JSON object."))
    return sent


def _large_body(request: HttpRequest) -> bytes:
    """Read a body that may be large because of its files. Raises RequestDataTooBig for one without."""
    body = request.read()
    if len(body) - sum(len(found[0]) for found in DATA_URLS.finditer(body)) > MAX_BODY_BYTES:
        raise RequestDataTooBig("the rest is larger than a request without files may be")
    return body


def parse_params(sent: Object) -> CompletionParams:
    """Return the checked fields. Raises BadRequest."""
    if get_field(sent, "n", (int,), 1) != 1:
        raise BadRequest(_("Only one reply per request is supported: “n” must be 1."))
    refuse_unsupported(sent)
    options = get_field(sent, "stream_options", (dict,), {})
    return CompletionParams(
        messages_of(sent),
        stream=get_field(sent, "stream", (bool,), False),
        include_usage=get_field(options, "include_usage", (bool,), False),
        max_tokens=_max_tokens(sent),
        raw=_raw(sent),
        lora=plain_text("lora", get_field(sent, "lora", (str,), "")),
        parameters=dict(_parameters(sent)),
    )


def _raw(sent: Object) -> bool:
    raw: bool = get_field(sent, "raw", (bool,), False)
    if raw and sent.get("prompt") is None:
        raise BadRequest(_("“raw” can only be used with “prompt”."))
    return raw


def _max_tokens(sent: Object) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        if (most := get_field(sent, name, (int,))) is not None:
            return int(within(name, most, 1, MAX_TOKENS))
    return None


def _parameters(sent: Object) -> Iterator[tuple[str, Any]]:
    for name, parameter in API_NUMBERS.items():
        types = (int,) if parameter.kind == WHOLE else (int, float)
        if (number := get_field(sent, name, types)) is not None:
            yield name, within(name, number, parameter.minimum, parameter.maximum)
    yield from _objects_of(sent)
    yield from _tools(sent)
    if (effort := get_field(sent, "reasoning_effort", (str,))) is not None:
        yield "reasoning_effort", plain_text("reasoning_effort", effort)
    if (stop := get_field(sent, "stop", (str, list))) is not None:
        _check_stop([stop] if isinstance(stop, str) else stop)
        yield "stop", stop


def _check_stop(stops: list[Any]) -> None:
    short = all(isinstance(stop, str) and len(stop) <= MAX_STOP_CHARS for stop in stops)
    if len(stops) > MAX_STOPS or not short:
        raise BadRequest(_("“%(name)s” must be a string or a short list of strings.") % {"name": "stop"})


def _objects_of(sent: Object) -> Iterator[tuple[str, Any]]:
    for name in OBJECTS:
        if value := get_field(sent, name, (dict,)):
            if name == "response_format":
                _check_format(value)
            yield name, value
    options = get_field(sent, "options", (dict,), {})
    if unknown := sorted(options.keys() - {REJECT_IF_BUSY}):
        raise BadRequest(
            _("“%(name)s” is not supported.") % {"name": f"options.{unknown[0][:MAX_QUOTED_CHARS]}"}
        )
    if get_field(options, REJECT_IF_BUSY, (bool,), False):
        yield "options", {REJECT_IF_BUSY: True}


def _check_format(wanted: Object) -> None:
    if wanted.get("type") not in RESPONSE_FORMAT_TYPES:
        refuse_choice("response_format.type", RESPONSE_FORMAT_TYPES)
    if wanted["type"] == "json_schema" and not isinstance(wanted.get("json_schema"), dict):
        raise BadRequest(_("“%(name)s” must be an object.") % {"name": "response_format.json_schema"})


def _tools(sent: Object) -> Iterator[tuple[str, Any]]:
    choice = get_field(sent, "tool_choice", (str, dict))
    if isinstance(choice, str) and choice not in TOOL_CHOICES:
        refuse_choice("tool_choice", TOOL_CHOICES)
    if not (tools := get_objects(sent, "tools", MAX_TOOLS)):
        if choice not in (None, "none", "auto"):
            raise BadRequest(_("“tool_choice” requires “tools”."))
        return
    yield "tools", tools
    if choice is not None:
        yield "tool_choice", "required" if choice == "any" else choice
    if (parallel := get_field(sent, "parallel_tool_calls", (bool,))) is not None:
        yield "parallel_tool_calls", parallel
