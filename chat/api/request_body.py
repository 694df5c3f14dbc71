"""Parsing of a call's body, each field checked: supported, passed on, or refused by name, never lost."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.exceptions import BadRequest, PayloadTooLarge
from chat.files.receiving import UPLOAD
from chat.upstream import parameters
from chat.upstream.catalog import LlmModel
from chat.wire import strict_json

from .bodies import Run
from .messages import messages_of
from .passed_fields import NEVER, passed_on
from .refusals import MAX_QUOTED_CHARS, MISSING, NO_CHOICE, InvalidField, Object, check, invalid, unsupported

MAX_CONTAINERS = 200_000  # lists and objects of a body: 100 for each message
MAX_FIELDS = 200
WHOLE_NUMBERS = ("max_tokens", "max_completion_tokens", "n", "top_k", "seed")
LIMITS = ("max_completion_tokens", "max_tokens")
# Fields that are passed on as they are.
PLAIN_PARAMETERS = (
    "temperature", "top_p", "frequency_penalty", "presence_penalty", "repetition_penalty", "top_k", "seed",
    "response_format", "logit_bias", "chat_template_kwargs", "reasoning_effort", "stop",
)  # fmt: skip
RESPONSE_FORMATS = ("text", "json_object", "json_schema")
NO_TOP_K = (0, -1)  # of vLLM and llama.cpp
REJECT_IF_BUSY = "rejectIfBusy"
NEEDS_TOOLS = gettext_noop("“%(name)s” requires “tools”.")
ONE_REPLY = gettext_noop("Only one reply per request is supported: “%(name)s” must be 1.")
NEEDS_PROMPT = gettext_noop("“%(name)s” can only be used with “prompt”.")
# Fields that are done here for models whose schema does not name them.
DONE_HERE = {"stop", "parallel_tool_calls"}
# Values without an effect, which clients send as defaults. The same is true of NO_REASONING, for a model that
# does not reason.
NEUTRAL_BY_MODEL: dict[str, tuple[Any, ...]] = {
    "reasoning_effort": ("medium",),
    "repetition_penalty": (1,),
    "response_format": ({"type": "text"},),
}
NO_REASONING: dict[str, tuple[Any, ...]] = {
    "reasoning_effort": ("none",),
    "chat_template_kwargs": ({"enable_thinking": False},),
}


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
        body = request.read() if UPLOAD in getattr(request, "scope", {}) else request.body
        sent = strict_json.loads(body, max_containers=MAX_CONTAINERS)
    except RequestDataTooBig as error:
        raise PayloadTooLarge(
            _("The request is larger than %(most)s MiB. Send less.") % {"most": settings.API_MAX_BODY_MB}
        ) from error
    except UnreadablePostError as error:
        raise BadRequest(_("The request ended before it was complete.")) from error
    except strict_json.InvalidJSON as error:
        raise BadRequest(_(str(error))) from error
    if not isinstance(sent, dict):
        raise BadRequest(_("Send a JSON object."))
    return sent


def parse_params(sent: Object, model: LlmModel) -> CompletionParams:
    """Return the checked fields of a call to the model. Raises InvalidField."""
    fields = _forgiven(sent)
    if len(fields) > MAX_FIELDS:
        raise unsupported(list(fields)[MAX_FIELDS])
    check(fields, Run)
    if fields.get("n", 1) != 1:
        raise invalid(ONE_REPLY, "n", "unsupported_value")
    own = {*Run.__struct_fields__, "model"} - NEVER.keys()
    passed = passed_on({name: value for name, value in fields.items() if name not in own}, model)
    options = fields.get("stream_options", {})
    if lost := next((name for name, value in options.items() if value and name != "include_usage"), ""):
        raise unsupported(f"stream_options.{lost}")
    if fields.get("raw") and fields.get("prompt") is None:
        raise invalid(NEEDS_PROMPT, "raw")
    return CompletionParams(
        messages_of(fields, takes_all=model.takes_all),
        stream=fields.get("stream", False),
        include_usage=bool(options.get("include_usage")),
        max_tokens=next((fields[name] for name in LIMITS if name in fields), None),
        raw=fields.get("raw", False),
        lora=fields.get("lora", ""),
        parameters=dict(_parameters(fields, model)) | passed,
    )


def _forgiven(sent: Object) -> Object:
    """Return the fields without null and what other servers understand as missing.

    OpenAI's own server takes 100.0 for a whole number; llama.cpp's clients write -1 for no limit; an empty
    `stop` stops at nothing, and is refused by some servers.
    """
    fields = {name: value for name, value in sent.items() if value is not None}
    for name in WHOLE_NUMBERS:
        if isinstance(fields.get(name), float) and fields[name].is_integer():
            fields[name] = int(fields[name])
    for name in LIMITS:
        if isinstance(fields.get(name), int) and fields[name] < 0:
            del fields[name]
    if fields.get("top_k") in NO_TOP_K and not isinstance(fields["top_k"], bool):
        del fields["top_k"]
    if isinstance(fields.get("stop"), list):
        fields["stop"] = [each for each in fields["stop"] if each not in ("", None)]
    for name in ("stop", "tools", "logit_bias", "chat_template_kwargs", "response_format", "lora"):
        if fields.get(name) in ("", [], {}):
            del fields[name]
    return fields


def _parameters(fields: Object, model: LlmModel) -> Iterator[tuple[str, Any]]:
    for name in PLAIN_PARAMETERS:
        if name in fields:
            yield name, fields[name]
    wanted = fields.get("response_format", {})
    if wanted and not (wanted["type"] in RESPONSE_FORMATS or model.takes_all):
        raise invalid(NO_CHOICE, "response_format.type", value=wanted["type"][:MAX_QUOTED_CHARS])
    if wanted.get("type") == "json_schema" and wanted.get("json_schema") is None:
        raise invalid(MISSING, "response_format.json_schema", "missing_required_parameter")
    if fields.get("options", {}).get(REJECT_IF_BUSY):
        yield "options", {REJECT_IF_BUSY: True}
    yield from _tools(fields)


def _tools(fields: Object) -> Iterator[tuple[str, Any]]:
    choice = fields.get("tool_choice")
    if "tools" not in fields:
        if choice not in (None, "none", "auto"):
            raise invalid(NEEDS_TOOLS, "tool_choice")
        return
    yield "tools", fields["tools"]
    if choice is not None:
        yield "tool_choice", "required" if choice == "any" else choice
    if "parallel_tool_calls" in fields:
        yield "parallel_tool_calls", fields["parallel_tool_calls"]


def check_capabilities(params: CompletionParams, model: LlmModel) -> None:
    """Raise InvalidField if the model does not support a field. A value without an effect is accepted."""
    if params.raw and not _takes_raw(model):
        raise _unsupported("raw")
    if params.max_tokens is not None and not model.takes_max_tokens:
        raise _unsupported("max_tokens")
    for name, value in params.parameters.items():
        if parameters.declares(model, name) is False and not _is_harmless(model, name, value):
            raise _unsupported(name)
    if "options" in params.parameters and not model.counts_against_quota:
        raise _unsupported(f"options.{REJECT_IF_BUSY}")


def needs_tool_call_ids(model: LlmModel) -> bool:
    """Return True for Mistral's models. Other models of Workers AI take a tool's result without it."""
    return "/mistral" in model.address


def _is_harmless(model: LlmModel, name: str, value: Any) -> bool:
    neutral = NEUTRAL_BY_MODEL.get(name, ()) + (() if model.reasoning else NO_REASONING.get(name, ()))
    return name in DONE_HERE or value in neutral


def _takes_raw(model: LlmModel) -> bool:
    """Return True if the model's schema has `prompt`: that of classic models, and perhaps an unknown one."""
    return model.counts_against_quota and parameters.is_classic(model) is not False


def _unsupported(name: str) -> InvalidField:
    words = _("This model doesn’t support “%(name)s”.") % {"name": name}
    return InvalidField(words, name, "unsupported_parameter")
