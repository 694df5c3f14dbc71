"""Parsing of a call's body, each field checked.

Unknown fields are ignored, as other servers of this API do. Documented fields are supported or rejected by
name, except those without an effect on the reply, which are ignored.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, PayloadTooLarge
from chat.wire import strict_json

from .field_checks import Object, given, objects, plain_text, refuse_choice, within
from .messages import MOST_TOOLS, messages_of
from .unsupported_fields import refuse_unsupported

MAX_TOKENS = 10_000_000
NUMBERS = {
    "temperature": (0, 5),
    "top_p": (0, 2),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
    "repetition_penalty": (0, 2),
}
INTEGERS = {"top_k": (1, 10_000), "seed": (-(2**63), 2**63 - 1)}
OBJECTS = ("response_format", "logit_bias", "chat_template_kwargs")
TYPES = ("text", "json_object", "json_schema")
CHOICES = ("none", "auto", "required", "any")
MAX_STOPS = 16
REJECT_IF_BUSY = "rejectIfBusy"  # https://developers.cloudflare.com/workers-ai/features/reject-if-busy/
LONGEST_NAME = 100  # characters of an unknown field's name that are quoted in the error


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
        sent = strict_json.loads(request.body)
    except RequestDataTooBig as error:
        raise PayloadTooLarge(_("This is longer than 1 MiB. Send less.")) from error
    except UnreadablePostError as error:
        raise BadRequest(_("This call ended before its end.")) from error
    except strict_json.InvalidJSON as error:
        raise BadRequest(_(str(error))) from error
    if not isinstance(sent, dict):
        raise BadRequest(_("Send a JSON object."))
    return sent


def parse_params(sent: Object) -> CompletionParams:
    """Return the checked fields. Raises BadRequest."""
    if given(sent, "n", (int,), 1) != 1:
        raise BadRequest(_("Only one reply can be asked for at a time: “n” must be 1."))
    refuse_unsupported(sent)
    options = given(sent, "stream_options", (dict,), {})
    return CompletionParams(
        messages_of(sent),
        stream=given(sent, "stream", (bool,), False),
        include_usage=given(options, "include_usage", (bool,), False),
        max_tokens=_max_tokens(sent),
        raw=_raw(sent),
        lora=plain_text("lora", given(sent, "lora", (str,), "")),
        parameters=dict(_parameters(sent)),
    )


def _raw(sent: Object) -> bool:
    raw: bool = given(sent, "raw", (bool,), False)
    if raw and sent.get("prompt") is None:
        raise BadRequest(_("“raw” goes with “prompt”."))
    return raw


def _max_tokens(sent: Object) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        if (most := given(sent, name, (int,))) is not None:
            return int(within(name, most, 1, MAX_TOKENS))
    return None


def _parameters(sent: Object) -> Iterator[tuple[str, Any]]:
    for name, (least, most) in NUMBERS.items():
        if (number := given(sent, name, (int, float))) is not None:
            yield name, within(name, number, least, most)
    for name, (least, most) in INTEGERS.items():
        if (number := given(sent, name, (int,))) is not None:
            yield name, within(name, number, least, most)
    yield from _objects_of(sent)
    yield from _tools(sent)
    if (effort := given(sent, "reasoning_effort", (str,))) is not None:
        yield "reasoning_effort", plain_text("reasoning_effort", effort)
    if (stop := given(sent, "stop", (str, list))) is not None:
        if isinstance(stop, list) and (len(stop) > MAX_STOPS or not all(isinstance(s, str) for s in stop)):
            raise BadRequest(_("“%(name)s” must be text, or a short list of texts.") % {"name": "stop"})
        yield "stop", stop


def _objects_of(sent: Object) -> Iterator[tuple[str, Any]]:
    for name in OBJECTS:
        if value := given(sent, name, (dict,)):
            if name == "response_format":
                _check_format(value)
            yield name, value
    options = given(sent, "options", (dict,), {})
    if unknown := sorted(options.keys() - {REJECT_IF_BUSY}):
        raise BadRequest(_("“%(name)s” is not supported.") % {"name": f"options.{unknown[0][:LONGEST_NAME]}"})
    if given(options, REJECT_IF_BUSY, (bool,), False):
        yield "options", {REJECT_IF_BUSY: True}


def _check_format(wanted: Object) -> None:
    if wanted.get("type") not in TYPES:
        refuse_choice("response_format.type", TYPES)
    if wanted["type"] == "json_schema" and not isinstance(wanted.get("json_schema"), dict):
        raise BadRequest(_("“%(name)s” must be an object.") % {"name": "response_format.json_schema"})


def _tools(sent: Object) -> Iterator[tuple[str, Any]]:
    choice = given(sent, "tool_choice", (str, dict))
    if isinstance(choice, str) and choice not in CHOICES:
        refuse_choice("tool_choice", CHOICES)
    if not (tools := objects(sent, "tools", MOST_TOOLS)):
        if choice not in (None, "none", "auto"):
            raise BadRequest(_("“tool_choice” needs “tools”."))
        return
    yield "tools", tools
    if choice is not None:
        yield "tool_choice", "required" if choice == "any" else choice
    if (parallel := given(sent, "parallel_tool_calls", (bool,))) is not None:
        yield "parallel_tool_calls", parallel
