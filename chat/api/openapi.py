"""OpenAPI 3.1 description of the API, built from the tables that its fields are checked with.

https://spec.openapis.org/oas/v3.1.1.html
"""

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from .conversations import MAX_LIMIT
from .openai import error_envelope
from .openapi_schemas import STRING_SCHEMA, UUID, Object, ref, schemas
from .responses import api_view, json_response

API_VERSION = "1"
STREAM_TYPE = "text/event-stream"


@api_view(error_envelope, "GET", "HEAD")
async def openapi(request: HttpRequest) -> HttpResponseBase:
    """Return the description, without authentication: it reveals nothing of this site but its URL."""
    return json_response(described())


def described() -> Object:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Chat API",
            "version": API_VERSION,
            "description": "OpenAI's chat API and Workers AI's own, answered by the models of this site.",
        },
        "servers": [{"url": settings.SITE_URL}],
        "security": [{"key": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(),
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
                    "default": _answers(ref("Error"), "A refusal"),
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
                    {"name": name, "in": "query", "schema": STRING_SCHEMA}
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
                {"name": "model", "in": "query", "required": True, "schema": STRING_SCHEMA},
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
    right = _answers(ref(whole), "The reply")
    right["content"][STREAM_TYPE] = {}
    return {
        "parameters": list(parameters),
        "requestBody": {"required": True, "content": {"application/json": {"schema": ref(body)}}},
        "responses": {"200": right, "default": _answers(ref(failure), "A refusal")},
    }


def _gets(whole: str, failure: str, *parameters: Object) -> Object:
    return {
        "parameters": list(parameters),
        "responses": {
            "200": _answers(ref(whole), "What there is"),
            "default": _answers(ref(failure), "A refusal"),
        },
    }


def _answers(schema: Object, description: str) -> Object:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _in_path(name: str) -> Object:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
