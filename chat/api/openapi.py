"""OpenAPI 3.1 description of the API, built from the tables that its fields are checked with.

https://spec.openapis.org/oas/v3.1.1.html
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from chat.upstream.parameters import API_NUMBERS, MAX_TOKENS, NUMBER, WHOLE

from .conversations import MAX_LIMIT
from .document_parts import DATA_URL as FILE_DATA_URL
from .gateway_options import HEADERS
from .messages import MAX_MESSAGES, MAX_TOOLS, ROLES, TEXT
from .openai import error_envelope
from .request_body import (
    CHOICES,
    MAX_STOP_CHARS,
    MAX_STOPS,
    REJECT_IF_BUSY,
    TYPES,
)
from .responses import api_view, json_response
from .unsupported_fields import HINTS, NEUTRAL

Object = dict[str, Any]
VERSION = "1"
TEXTS, FLAG, NOTHING = {"type": "string"}, {"type": ["boolean", "null"]}, {"type": "null"}
WORDS = {"type": "string", "pattern": "^[^\\u0000]*$"}
PASSED = {"type": ["object", "null"]}
IGNORED = {"description": "Taken, and without an effect on the reply."}
STREAM = "text/event-stream"
UUID = {"type": "string", "format": "uuid"}
JSON_TYPES = {NUMBER: "number", WHOLE: "integer"}


@api_view(error_envelope, "GET", "HEAD")
async def openapi(request: HttpRequest) -> HttpResponseBase:
    """Return the description, without authentication: it reveals nothing of this site but its URL."""
    return json_response(described())


def described() -> Object:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Chat API",
            "version": VERSION,
            "description": "OpenAI's chat API and Workers AI's own, answered by the models of this site.",
        },
        "servers": [{"url": settings.SITE_URL}],
        "security": [{"key": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
    }


def _paths() -> Object:
    account = "/client/v4/accounts/{account}/ai"
    return {
        "/v1/chat/completions": {"post": _asks("Chat", "Completion", "Error")},
        "/v1/models": {"get": _gets("Models", "Error")},
        "/v1/models/{model}": {"get": _gets("Model", "Error", _in_path("model"))},
        "/v1/conversations": {
            "get": _gets(
                "Conversations",
                "Error",
                {
                    "name": "limit",
                    "in": "query",
                    "schema": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT},
                },
                {"name": "after", "in": "query", "schema": UUID},
            )
        },
        "/v1/conversations/{conversation}": {
            "get": _gets(
                "Conversation",
                "Error",
                {"name": "conversation", "in": "path", "required": True, "schema": UUID},
            )
        },
        "/v1/export": {
            "get": {
                "responses": {
                    "200": {"description": "All conversations", "content": {"application/zip": {}}},
                    "default": _answers(_ref("Error"), "A refusal"),
                }
            }
        },
        f"{account}/run": {"post": _asks("NamedRun", "Result", "Failure", _in_path("account"))},
        f"{account}/run/{{model}}": {
            "post": _asks("Run", "Result", "Failure", _in_path("account"), _in_path("model"))
        },
        f"{account}/v1/chat/completions": {"post": _asks("Chat", "Completion", "Error", _in_path("account"))},
        f"{account}/models/search": {
            "get": _gets(
                "Search",
                "Failure",
                _in_path("account"),
                *(
                    {"name": name, "in": "query", "schema": TEXTS}
                    for name in ("search", "task", "author", "source")
                ),
                {"name": "hide_experimental", "in": "query", "schema": {"type": "boolean"}},
                *(
                    {
                        "name": name,
                        "in": "query",
                        "schema": {"type": "integer", "minimum": 1, "maximum": 99_999},
                    }
                    for name in ("page", "per_page")
                ),
            )
        },
        f"{account}/models/schema": {
            "get": _gets(
                "Schema",
                "Failure",
                _in_path("account"),
                {"name": "model", "in": "query", "required": True, "schema": TEXTS},
            )
        },
        f"{account}/finetunes": {"get": _gets("Finetunes", "Failure", _in_path("account"))},
        "/client/v4/user/tokens/verify": {"get": _gets("Verified", "Failure")},
        "/client/v4/accounts/{account}/tokens/verify": {
            "get": _gets("Verified", "Failure", _in_path("account"))
        },
        "/v1/openapi.json": {
            "get": {"security": [], "responses": {"200": _answers({"type": "object"}, "This description")}}
        },
    }


def _asks(body: str, whole: str, failure: str, *parameters: Object) -> Object:
    """Describe a call of a model: the response is JSON, or with `stream` frames that end with `[DONE]`."""
    right = _answers(_ref(whole), "The reply")
    right["content"][STREAM] = {}
    return {
        "parameters": list(parameters),
        "requestBody": {"required": True, "content": {"application/json": {"schema": _ref(body)}}},
        "responses": {"200": right, "default": _answers(_ref(failure), "A refusal")},
    }


def _gets(whole: str, failure: str, *parameters: Object) -> Object:
    return {
        "parameters": list(parameters),
        "responses": {
            "200": _answers(_ref(whole), "What there is"),
            "default": _answers(_ref(failure), "A refusal"),
        },
    }


def _answers(schema: Object, description: str) -> Object:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _in_path(name: str) -> Object:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _ref(name: str) -> Object:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: str, **properties: object) -> Object:
    return {"type": "object", "required": required.split(), "properties": properties}


def run_schemas() -> tuple[Object, Object]:
    """Return the schemas of a request to a model and of its result, without references."""
    schemas = _schemas()
    return _resolved(schemas["Run"], schemas), _resolved(_result(), schemas)


def _resolved(schema: Any, schemas: Object) -> Any:
    """Replace each reference by its schema. No schema refers to itself."""
    if isinstance(schema, list):
        return [_resolved(each, schemas) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        return _resolved(schemas[reference.rpartition("/")[2]], schemas)
    return {name: _resolved(each, schemas) for name, each in schema.items()}


def _list(schema: Object, most: int | None = None) -> Object:
    return {"type": "array", "items": schema} | ({} if most is None else {"maxItems": most})


def _schemas() -> Object:
    return _requests() | _replies()


def _requests() -> Object:
    options = _options()
    messages = _list(_ref("Message"), MAX_MESSAGES) | {"minItems": 1}
    part = _object("type text", type={"enum": list(TEXT)}, text=WORDS)
    data_url = {"type": "string", "pattern": "^data:image/(jpeg|png|webp|gif);base64,"}
    picture = _object(
        "type image_url",
        type={"const": "image_url"},
        image_url=_object("url", url=data_url) | {"description": "For models that see pictures."},
    )
    file = {"filename": WORDS, "file_data": {"type": "string", "pattern": f"^{FILE_DATA_URL.pattern}"}}
    told = {"description": "A document, whose text the model gets. At most 8, and 7 MB together."}
    document = _object("type file", type={"const": "file"}, file=_object("file_data", **file) | told)
    message = _object(
        "role",
        role={"enum": list(ROLES)},
        content={"anyOf": [WORDS, _list({"anyOf": [part, picture, document]}), NOTHING]},
        tool_calls={"anyOf": [_list({"type": "object"}, MAX_TOOLS), NOTHING]},
        tool_call_id={"anyOf": [WORDS, NOTHING]},
        name={"anyOf": [WORDS, NOTHING], "description": "Of a tool; of other roles it is not passed on."},
        reasoning_content={
            "anyOf": [WORDS, NOTHING],
            "description": "Of the assistant: passed on to models of Workers AI that reason, else left out.",
        },
    )
    run = _object("", messages=messages, prompt=WORDS, raw=FLAG, **options) | {
        "oneOf": [{"required": ["prompt"]}, {"required": ["messages"]}]
    }
    run.pop("required")
    return {
        "Message": message,
        "Chat": _object("model messages", model=TEXTS, messages=messages, **options),
        "Run": run,
        "NamedRun": _object("model input", model=TEXTS, input=_ref("Run")),
    }


def _options() -> Object:
    """Return the schemas of all fields of a call beside the model and the messages."""
    stop = {"type": ["string", "null"], "maxLength": MAX_STOP_CHARS}
    stops = {"anyOf": [stop, {"type": "array", "items": stop | {"type": "string"}, "maxItems": MAX_STOPS}]}
    most = {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_TOKENS}
    options: Object = {
        each.name: {"type": [JSON_TYPES[each.kind], "null"], "minimum": each.minimum, "maximum": each.maximum}
        for each in API_NUMBERS.values()
    } | {
        "stream": FLAG,
        "stream_options": {"type": ["object", "null"], "properties": {"include_usage": FLAG}},
        "max_tokens": most,
        "max_completion_tokens": most,
        "n": {"enum": [1, None]},
        "stop": stops,
        "response_format": PASSED
        | {
            "required": ["type"],
            "properties": {"type": {"enum": list(TYPES)}, "json_schema": PASSED},
            "description": "`json_schema` goes with the type of that name.",
        },
        "options": {
            "type": ["object", "null"],
            "properties": {REJECT_IF_BUSY: FLAG},
            "additionalProperties": False,
            "description": "Of Workers AI: a busy model answers 429 at once, instead of queueing the call.",
        },
        "reasoning_effort": {"anyOf": [WORDS, NOTHING]},
        "chat_template_kwargs": PASSED,
        "logit_bias": PASSED,
        "tools": {"type": ["array", "null"], "items": {"type": "object"}, "maxItems": MAX_TOOLS},
        "tool_choice": {
            "anyOf": [{"enum": [*CHOICES, None]}, {"type": "object"}],
            "description": "All but `none` and `auto` need `tools`.",
        },
        "parallel_tool_calls": FLAG,
        "lora": {"anyOf": [WORDS, NOTHING]},
        "gateway": PASSED
        | {
            "description": "For keys that may set the AI Gateway; the headers `cf-aig-*` say the same.",
            "properties": {name: {} for name in HEADERS} | {"retries": PASSED},
        },
    }
    return (
        options | {name: _neutral(values) for name, values in NEUTRAL.items()} | dict.fromkeys(HINTS, IGNORED)
    )


def _neutral(values: tuple[Any, ...]) -> Object:
    """Return the schema of an unsupported field, which is rejected unless its value has no effect."""
    return {"enum": [None, *values], "description": "Not supported: anything else is refused."}


def _replies() -> Object:
    message = _object(
        "role content",
        role={"const": "assistant"},
        content={"type": ["string", "null"]},
        reasoning_content=TEXTS,
        tool_calls=_list({"type": "object"}),
    )
    choice = _object("index message finish_reason", index={"const": 0}, message=message, finish_reason=TEXTS)
    count = {"type": "integer", "minimum": 0}
    usage = _object(
        "prompt_tokens completion_tokens total_tokens neurons",
        prompt_tokens=count,
        completion_tokens=count,
        total_tokens=count,
        neurons={"type": "number"},
    )
    usage |= {"type": ["object", "null"], "description": "Null if the model server did not report it."}
    model = _object("id object owned_by", id=TEXTS, object={"const": "model"}, owned_by=TEXTS)
    error = _object("message code", message=TEXTS, code=TEXTS)
    return {
        "Usage": usage,
        "Completion": _object(
            "id object created model choices usage",
            id=TEXTS,
            object={"const": "chat.completion"},
            created=count,
            model=TEXTS,
            choices=_list(choice),
            usage=_ref("Usage"),
        ),
        "Model": model,
        "Models": _object("object data", object={"const": "list"}, data=_list(_ref("Model"))),
        "Error": _object("error", error=error),
        "Conversations": _object(
            "object data first_id last_id has_more",
            object={"const": "list"},
            data=_list(_object("id object title model created updated", object={"const": "conversation"})),
            has_more={"type": "boolean"},
        ),
        "Conversation": _object("format version id title messages", messages=_list({"type": "object"})),
        "Result": _envelope(_result()),
        "Verified": _envelope(_object("id status", id=TEXTS, status={"const": "active"}, expires_on=TEXTS)),
        "Schema": _envelope(_object("input output", input={"type": "object"}, output={"type": "object"})),
        "Finetunes": _envelope(_list(_object("id model name", id=TEXTS, model=TEXTS, name=TEXTS))),
        "Search": _envelope(_list(_object("id name task properties", name=TEXTS))),
        "Failure": _object(
            "success errors",
            success={"const": False},
            errors=_list(_object("code message", code={"type": "integer"}, message=TEXTS)),
        ),
    }


def _result() -> Object:
    """Return the schema of a Workers AI result, which also has the fields of a `Completion`."""
    return _object(
        "response usage choices",
        choices=_list({"type": "object"}),
        reasoning_content=TEXTS,
        tool_calls=_list({"type": "object"}),
        finish_reason=TEXTS,
        usage=_ref("Usage"),
    )


def _envelope(result: Object) -> Object:
    return _object("result success errors messages", result=result, success={"const": True})
