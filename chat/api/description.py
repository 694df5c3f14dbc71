"""The API described as OpenAPI 3.1, from the same tables that its fields are checked with.

https://spec.openapis.org/oas/v3.1.1.html
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from .answering import answer, answers
from .fields import (
    CHOICES,
    INTEGERS,
    MOST_MESSAGES,
    MOST_STOPS,
    MOST_TOKENS,
    MOST_TOOLS,
    NUMBERS,
    ROLES,
    TEXT,
    TYPES,
)
from .openai import failure

Object = dict[str, Any]
VERSION = "1"
TEXTS, FLAG, NOTHING = {"type": "string"}, {"type": ["boolean", "null"]}, {"type": "null"}
WORDS = {"type": "string", "pattern": "^[^\\u0000]*$"}
PASSED = {"type": ["object", "null"]}
STREAM = "text/event-stream"


@answers(failure, "GET", "HEAD")
async def openapi(request: HttpRequest) -> HttpResponseBase:
    """The description, for everybody: it says nothing of this site but its address."""
    return answer(described())


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
        "/v1/models/{model}": {"get": _gets("Model", "Error", _in_path("model"), missing=True)},
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
                {"name": "search", "in": "query", "schema": TEXTS},
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
        "/v1/openapi.json": {
            "get": {"security": [], "responses": {"200": _answers({"type": "object"}, "This description")}}
        },
    }


def _asks(body: str, whole: str, failure: str, *parameters: Object) -> Object:
    """A call of a model: its answer is JSON, or with `stream` a stream of frames that end with `[DONE]`."""
    right = _answers(_ref(whole), "The reply")
    right["content"][STREAM] = {}
    return {
        "parameters": list(parameters),
        "requestBody": {"required": True, "content": {"application/json": {"schema": _ref(body)}}},
        "responses": {"200": right, "default": _answers(_ref(failure), "A refusal")},
    }


def _gets(whole: str, failure: str, *parameters: Object, missing: bool = False) -> Object:
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


def _list(schema: Object, most: int | None = None) -> Object:
    return {"type": "array", "items": schema} | ({} if most is None else {"maxItems": most})


def _schemas() -> Object:
    return _requests() | _replies()


def _requests() -> Object:
    options = _options()
    messages = _list(_ref("Message"), MOST_MESSAGES) | {"minItems": 1}
    part = _object("type text", type={"enum": list(TEXT)}, text=WORDS)
    message = _object(
        "role",
        role={"enum": list(ROLES)},
        content={"anyOf": [WORDS, _list(part), NOTHING]},
        tool_calls={"anyOf": [_list({"type": "object"}, MOST_TOOLS), NOTHING]},
        tool_call_id={"anyOf": [WORDS, NOTHING]},
        name={"anyOf": [WORDS, NOTHING]},
    )
    run = _object("", messages=messages, prompt=WORDS, raw={"const": False}, **options) | {
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
    """Everything a call may say beside what is asked."""
    ranges = [(NUMBERS, "number"), (INTEGERS, "integer")]
    stops = {"type": ["string", "array", "null"], "items": TEXTS, "maxItems": MOST_STOPS}
    most = {"type": ["integer", "null"], "minimum": 1, "maximum": MOST_TOKENS}
    return {
        name: {"type": [kind, "null"], "minimum": least, "maximum": highest}
        for table, kind in ranges
        for name, (least, highest) in table.items()
    } | {
        "stream": FLAG,
        "stream_options": {"type": ["object", "null"], "properties": {"include_usage": FLAG}},
        "max_tokens": most,
        "max_completion_tokens": most,
        "n": {"enum": [1, None]},
        "stop": stops,
        "response_format": PASSED | {"required": ["type"], "properties": {"type": {"enum": list(TYPES)}}},
        "reasoning_effort": {"anyOf": [WORDS, NOTHING]},
        "chat_template_kwargs": PASSED,
        "logit_bias": PASSED,
        "tools": {"type": ["array", "null"], "items": {"type": "object"}, "maxItems": MOST_TOOLS},
        "tool_choice": {"anyOf": [{"enum": [*CHOICES, None]}, {"type": "object"}]},
        "parallel_tool_calls": FLAG,
    }


def _replies() -> Object:
    said = _object(
        "role content",
        role={"const": "assistant"},
        content={"type": ["string", "null"]},
        reasoning_content=TEXTS,
        tool_calls=_list({"type": "object"}),
    )
    choice = _object("index message finish_reason", index={"const": 0}, message=said, finish_reason=TEXTS)
    count = {"type": "integer", "minimum": 0}
    usage = _object(
        "prompt_tokens completion_tokens total_tokens neurons",
        prompt_tokens=count,
        completion_tokens=count,
        total_tokens=count,
        neurons={"type": "number"},
    )
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
        "Result": _envelope(
            _object(
                "response usage",
                tool_calls=_list({"type": "object"}),
                finish_reason=TEXTS,
                usage=_ref("Usage"),
            )
        ),
        "Search": _envelope(_list(_object("id name task properties", name=TEXTS))),
        "Failure": _object(
            "success errors",
            success={"const": False},
            errors=_list(_object("code message", code={"type": "integer"}, message=TEXTS)),
        ),
    }


def _envelope(result: Object) -> Object:
    return _object("result success errors messages", result=result, success={"const": True})
