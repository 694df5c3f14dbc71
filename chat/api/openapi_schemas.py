"""JSON schemas of the requests and responses of the API, from the tables that its fields are checked with."""

from typing import Any

from chat.upstream.parameters import API_NUMBERS, MAX_TOKENS, NUMBER, WHOLE

from .document_parts import DOCUMENT_DATA_URL
from .gateway_options import HEADER_OF_OPTION
from .messages import MAX_REQUEST_MESSAGES, MAX_TOOLS, REQUEST_ROLES, TEXT_PART_TYPES
from .request_body import (
    MAX_STOP_CHARS,
    MAX_STOPS,
    REJECT_IF_BUSY,
    RESPONSE_FORMAT_TYPES,
    TOOL_CHOICES,
)
from .unsupported_fields import HINTS, NEUTRAL_VALUES

Object = dict[str, Any]
STRING_SCHEMA, FLAG_SCHEMA, NULL_SCHEMA = {"type": "string"}, {"type": ["boolean", "null"]}, {"type": "null"}
TEXT_SCHEMA = {"type": "string", "pattern": "^[^\\u0000]*$"}
OBJECT_SCHEMA = {"type": ["object", "null"]}
IGNORED_SCHEMA = {"description": "Taken, and without an effect on the reply."}
UUID = {"type": "string", "format": "uuid"}
COUNT_SCHEMA = {"type": "integer", "minimum": 0}
JSON_TYPE_OF_PARAMETER = {NUMBER: "number", WHOLE: "integer"}


def _image() -> Object:
    """Return the schema of the classic field, which becomes a part of the last question."""
    bytes_of_file = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}}
    return {
        "anyOf": [NULL_SCHEMA, TEXT_SCHEMA, bytes_of_file],
        "description": "For models that see pictures.",
    }


def run_schemas() -> tuple[Object, Object]:
    """Return the schemas of a request to a model and of its result, without references."""
    named = schemas()
    return _resolved(named["Run"], named), _resolved(_result(), named)


def schemas() -> Object:
    """Return all schemas by their names in `#/components/schemas`."""
    return _requests() | _replies()


def _resolved(schema: Any, named: Object) -> Any:
    """Replace each reference by its schema. No schema refers to itself."""
    if isinstance(schema, list):
        return [_resolved(each, named) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        return _resolved(named[reference.rpartition("/")[2]], named)
    return {name: _resolved(each, named) for name, each in schema.items()}


def _requests() -> Object:
    options = _options()
    messages = list_of(ref("Message"), MAX_REQUEST_MESSAGES) | {"minItems": 1}
    part = struct("type text", type={"enum": list(TEXT_PART_TYPES)}, text=TEXT_SCHEMA)
    data_url = {"type": "string", "pattern": "^data:image/(jpeg|png|webp|gif);base64,"}
    picture = struct(
        "type image_url",
        type={"const": "image_url"},
        image_url=struct("url", url=data_url) | {"description": "For models that see pictures."},
    )
    data = {"type": "string", "pattern": f"^{DOCUMENT_DATA_URL.pattern}"}
    file = {"filename": TEXT_SCHEMA, "file_data": data}
    description = {"description": "A document, whose text the model gets. At most 8, and 7 MB together."}
    document = struct("type file", type={"const": "file"}, file=struct("file_data", **file) | description)
    message = struct(
        "role",
        role={"enum": list(REQUEST_ROLES)},
        content={"anyOf": [TEXT_SCHEMA, list_of({"anyOf": [part, picture, document]}), NULL_SCHEMA]},
        tool_calls={"anyOf": [list_of({"type": "object"}, MAX_TOOLS), NULL_SCHEMA]},
        tool_call_id={"anyOf": [TEXT_SCHEMA, NULL_SCHEMA]},
        name={
            "anyOf": [TEXT_SCHEMA, NULL_SCHEMA],
            "description": "Of a tool; of other roles it is not passed on.",
        },
        reasoning_content={
            "anyOf": [TEXT_SCHEMA, NULL_SCHEMA],
            "description": "Of the assistant: passed on to models of Workers AI that reason, else left out.",
        },
    )
    run = struct(
        "", messages=messages, prompt=TEXT_SCHEMA, raw=FLAG_SCHEMA, **options | {"image": _image()}
    ) | {"oneOf": [{"required": ["prompt"]}, {"required": ["messages"]}]}
    run.pop("required")
    return {
        "Message": message,
        "Chat": struct("model messages", model=STRING_SCHEMA, messages=messages, **options),
        "Run": run,
        "NamedRun": struct("model input", model=STRING_SCHEMA, input=ref("Run")),
    }


def _options() -> Object:
    """Return the schemas of all fields of a call beside the model and the messages."""
    numbers = {
        each.name: {
            "type": [JSON_TYPE_OF_PARAMETER[each.kind], "null"],
            "minimum": each.minimum,
            "maximum": each.maximum,
        }
        for each in API_NUMBERS.values()
    }
    neutral = {name: _neutral(values) for name, values in NEUTRAL_VALUES.items()}
    return numbers | _reply_options() | _tool_options() | neutral | dict.fromkeys(HINTS, IGNORED_SCHEMA)


def _reply_options() -> Object:
    stop = {"type": ["string", "null"], "maxLength": MAX_STOP_CHARS}
    stops = {"anyOf": [stop, {"type": "array", "items": stop | {"type": "string"}, "maxItems": MAX_STOPS}]}
    max_tokens = {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_TOKENS}
    return {
        "stream": FLAG_SCHEMA,
        "stream_options": {"type": ["object", "null"], "properties": {"include_usage": FLAG_SCHEMA}},
        "max_tokens": max_tokens,
        "max_completion_tokens": max_tokens,
        "n": {"enum": [1, None]},
        "stop": stops,
        "response_format": OBJECT_SCHEMA
        | {
            "required": ["type"],
            "properties": {"type": {"enum": list(RESPONSE_FORMAT_TYPES)}, "json_schema": OBJECT_SCHEMA},
            "description": "`json_schema` goes with the type of that name.",
        },
        "options": {
            "type": ["object", "null"],
            "properties": {REJECT_IF_BUSY: FLAG_SCHEMA},
            "additionalProperties": False,
            "description": "Of Workers AI: a busy model answers 429 at once, instead of queueing the call.",
        },
        "reasoning_effort": {"anyOf": [TEXT_SCHEMA, NULL_SCHEMA]},
        "chat_template_kwargs": OBJECT_SCHEMA,
        "logit_bias": OBJECT_SCHEMA,
    }


def _tool_options() -> Object:
    """Return the schemas of the fields for tools, for an adapter and for the AI Gateway."""
    return {
        "tools": {"type": ["array", "null"], "items": {"type": "object"}, "maxItems": MAX_TOOLS},
        "tool_choice": {
            "anyOf": [{"enum": [*TOOL_CHOICES, None]}, {"type": "object"}],
            "description": "All but `none` and `auto` need `tools`.",
        },
        "parallel_tool_calls": FLAG_SCHEMA,
        "lora": {"anyOf": [TEXT_SCHEMA, NULL_SCHEMA]},
        "gateway": OBJECT_SCHEMA
        | {
            "description": "For keys that may set the AI Gateway; the headers `cf-aig-*` say the same.",
            "properties": {name: {} for name in HEADER_OF_OPTION} | {"retries": OBJECT_SCHEMA},
        },
    }


def _neutral(values: tuple[Any, ...]) -> Object:
    """Return the schema of an unsupported field, which is rejected unless its value has no effect."""
    return {"enum": [None, *values], "description": "Not supported: anything else is refused."}


def _replies() -> Object:
    return _openai_replies() | _workers_ai_replies()


def _openai_replies() -> Object:
    error = struct("message code", message=STRING_SCHEMA, code=STRING_SCHEMA)
    return {
        "Usage": _usage(),
        "Completion": struct(
            "id object created model choices usage",
            id=STRING_SCHEMA,
            object={"const": "chat.completion"},
            created=COUNT_SCHEMA,
            model=STRING_SCHEMA,
            choices=list_of(_choice()),
            usage=ref("Usage"),
        ),
        "Model": struct(
            "id object owned_by", id=STRING_SCHEMA, object={"const": "model"}, owned_by=STRING_SCHEMA
        ),
        "Models": struct("object data", object={"const": "list"}, data=list_of(ref("Model"))),
        "Error": struct("error", error=error),
        "Conversations": struct(
            "object data first_id last_id has_more",
            object={"const": "list"},
            data=list_of(struct("id object title model created updated", object={"const": "conversation"})),
            has_more={"type": "boolean"},
        ),
        "Conversation": struct("format version id title messages", messages=list_of({"type": "object"})),
    }


def _usage() -> Object:
    usage = struct(
        "prompt_tokens completion_tokens total_tokens neurons",
        prompt_tokens=COUNT_SCHEMA,
        completion_tokens=COUNT_SCHEMA,
        total_tokens=COUNT_SCHEMA,
        neurons={"type": "number"},
    )
    reported = {"type": ["object", "null"], "description": "Null if the model server did not report it."}
    return usage | reported


def _choice() -> Object:
    message = struct(
        "role content",
        role={"const": "assistant"},
        content={"type": ["string", "null"]},
        reasoning_content=STRING_SCHEMA,
        tool_calls=list_of({"type": "object"}),
    )
    return struct(
        "index message finish_reason", index={"const": 0}, message=message, finish_reason=STRING_SCHEMA
    )


def _workers_ai_replies() -> Object:
    error = struct("code message", code={"type": "integer"}, message=STRING_SCHEMA)
    finetune = struct("id model name", id=STRING_SCHEMA, model=STRING_SCHEMA, name=STRING_SCHEMA)
    token = struct("id status", id=STRING_SCHEMA, status={"const": "active"}, expires_on=STRING_SCHEMA)
    return {
        "Result": _envelope(_result()),
        "Verified": _envelope(token),
        "Schema": _envelope(struct("input output", input={"type": "object"}, output={"type": "object"})),
        "Finetunes": _envelope(list_of(finetune)),
        "Search": _envelope(list_of(struct("id name task properties", name=STRING_SCHEMA))),
        "Failure": struct("success errors", success={"const": False}, errors=list_of(error)),
    }


def _result() -> Object:
    """Return the schema of a Workers AI result, which also has the fields of a `Completion`."""
    return struct(
        "response usage choices",
        choices=list_of({"type": "object"}),
        reasoning_content=STRING_SCHEMA,
        tool_calls=list_of({"type": "object"}),
        finish_reason=STRING_SCHEMA,
        usage=ref("Usage"),
    )


def _envelope(result: Object) -> Object:
    return struct("result success errors messages", result=result, success={"const": True})


def ref(name: str) -> Object:
    return {"$ref": f"#/components/schemas/{name}"}


def struct(required: str, **properties: object) -> Object:
    return {"type": "object", "required": required.split(), "properties": properties}


def list_of(schema: Object, most: int | None = None) -> Object:
    return {"type": "array", "items": schema} | ({} if most is None else {"maxItems": most})
