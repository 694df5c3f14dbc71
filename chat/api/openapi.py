"""OpenAPI 3.1 description of the API, built from the tables that its fields are checked with.

https://spec.openapis.org/oas/v3.1.1.html
"""

from functools import cache
from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from . import bodies, passed_fields, replies
from .conversations import MAX_LIMIT
from .errors import openai_error
from .refusals import Object
from .responses import api_view, json_response

STRING_SCHEMA = {"type": "string"}
UUID = {"type": "string", "format": "uuid"}
REFERENCES = "#/components/schemas/{name}"
API_VERSION = "1"
STREAM_TYPE = "text/event-stream"
REFUSAL = "A refusal"
HINT = {"description": "Without an effect on the reply. Servers of OpenAI's API get it."}


@api_view(openai_error, "GET", "HEAD")
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
        "paths": _openai_paths() | _workers_ai_paths("/client/v4/accounts/{account}"),
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(),
        },
    }


def _openai_paths() -> Object:
    archive = {"description": "All conversations", "content": {"application/zip": {}}}
    limit = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}
    conversation = _parameter("conversation", "path", UUID, required=True)
    return {
        "/v1/chat/completions": _post("Chat", "Completion", "Error"),
        "/v1/models": _get("Models", "Error"),
        "/v1/models/{model}": _get("Model", "Error", _in_path("model")),
        "/v1/conversations": _get(
            "Conversations", "Error", _in_query("limit", limit), _in_query("after", UUID)
        ),
        "/v1/conversations/{conversation}": _get("Conversation", "Error", conversation),
        "/v1/export": {"get": {"responses": {"200": archive, "default": _response(ref("Error"), REFUSAL)}}},
        "/v1/openapi.json": {
            "get": {"security": [], "responses": {"200": _response({"type": "object"}, "This description")}}
        },
    }


def _workers_ai_paths(account: str) -> Object:
    in_account, in_model = _in_path("account"), _in_path("model")
    page = {"type": "integer", "minimum": 1, "maximum": 99_999}
    search = [_in_query(name, STRING_SCHEMA) for name in ("search", "task", "author", "source")]
    search.append(_in_query("hide_experimental", {"type": "boolean"}))
    search += [_in_query(name, page) for name in ("page", "per_page")]
    model = _parameter("model", "query", STRING_SCHEMA, required=True)
    return {
        f"{account}/ai/run": _post("NamedRun", "Result", "Failure", in_account),
        f"{account}/ai/run/{{model}}": _post("Run", "Result", "Failure", in_account, in_model),
        f"{account}/ai/v1/chat/completions": _post("Chat", "Completion", "Error", in_account),
        f"{account}/ai/models/search": _get("Search", "Failure", in_account, *search),
        f"{account}/ai/models/schema": _get("Schema", "Failure", in_account, model),
        f"{account}/ai/finetunes": _get("Finetunes", "Failure", in_account),
        "/client/v4/user/tokens/verify": _get("Verified", "Failure"),
        f"{account}/tokens/verify": _get("Verified", "Failure", in_account),
    }


def _post(body: str, reply: str, failure: str, *parameters: Object) -> Object:
    """Describe a call of a model: the response is JSON, or with `stream` frames that end with `[DONE]`."""
    success = _response(ref(reply), "The reply")
    success["content"][STREAM_TYPE] = {}
    return {
        "post": {
            "parameters": list(parameters),
            "requestBody": {"required": True, "content": {"application/json": {"schema": ref(body)}}},
            "responses": {"200": success, "default": _response(ref(failure), REFUSAL)},
        }
    }


def _get(result: str, failure: str, *parameters: Object) -> Object:
    responses = {"200": _response(ref(result), "What there is"), "default": _response(ref(failure), REFUSAL)}
    return {"get": {"parameters": list(parameters), "responses": responses}}


def _response(schema: Object, description: str) -> Object:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _in_path(name: str) -> Object:
    return _parameter(name, "path", {"type": "string", "minLength": 1}, required=True)


def _in_query(name: str, schema: Object) -> Object:
    return _parameter(name, "query", schema)


def _parameter(name: str, place: str, schema: Object, *, required: bool = False) -> Object:
    return {"name": name, "in": place, "schema": schema} | ({"required": True} if required else {})


def run_schemas() -> tuple[Object, Object]:
    """Return the schemas of a request to a model and of its result, without references."""
    named = schemas()
    return _resolved(named["Run"], named), _resolved(named["ResultFields"], named)


@cache
def schemas() -> Object:
    """Return all schemas by their names in `#/components/schemas`."""
    described: list[type] = [bodies.Chat, bodies.Run, bodies.NamedRun, replies.Completion, replies.Models]
    described += [replies.Error, replies.Conversations, replies.Conversation, replies.Result, replies.Failure]
    described += [replies.Verified, replies.Schema, replies.Finetunes, replies.Search]
    _references, named = msgspec.json.schema_components(described, ref_template=REFERENCES)
    for name in ("Chat", "Run"):
        neutral = passed_fields.NEVER | passed_fields.NEUTRAL_VALUES
        fields = named[name]["properties"]
        fields.update({each: _neutral(values) for each, values in neutral.items() if each not in fields})
        fields.update(dict.fromkeys(passed_fields.HINTS, HINT))
    return named


def _neutral(values: tuple[Any, ...]) -> Object:
    """Return the schema of a field that is refused, or passed on, unless its value has no effect."""
    return {
        "description": f"Passed to a server of OpenAI's API, or refused, unless one of {[None, *values]}."
    }


def _resolved(schema: Any, named: Object) -> Any:
    """Replace each reference by its schema. No schema refers to itself."""
    if isinstance(schema, list):
        return [_resolved(each, named) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        return _resolved(named[reference.rpartition("/")[2]], named)
    return {name: _resolved(each, named) for name, each in schema.items() if name != "discriminator"}


def ref(name: str) -> Object:
    return {"$ref": REFERENCES.format(name=name)}
