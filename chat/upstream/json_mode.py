"""JSON mode (`response_format`), which the model servers accept in different shapes.

Workers AI takes a bare schema and no stream: https://developers.cloudflare.com/workers-ai/features/json-mode/
OpenAI's API wraps the schema in `{"name", "schema", "strict"}`, and so do llama.cpp and other providers.
"""

from collections.abc import Mapping
from typing import Any

from .catalog import LlmModel
from .provider import Provider

RESPONSE_FORMAT_FIELD = "response_format"
JSON_FORMAT_TYPES = ("json_object", "json_schema")
WRAPPER = {"name", "schema", "strict", "description"}  # the keys of OpenAI's envelope
SCHEMA_NAME = "reply"  # OpenAI's envelope requires a name


def is_unstreamed(model: LlmModel, sent: Mapping[str, Any]) -> bool:
    """Return True if the server rejects this request as a stream (error 5023).

    Also for a route of an AI Gateway, which can lead to such a server.
    """
    wanted = sent.get(RESPONSE_FORMAT_FIELD)
    return (
        (_is_workers_ai(model) or model.is_route)
        and isinstance(wanted, dict)
        and wanted.get("type") in JSON_FORMAT_TYPES
    )


def to_provider_shape(model: LlmModel, sent: dict[str, Any]) -> dict[str, Any]:
    """Return the API client's parameters with `response_format` in the shape of this model's server."""
    wanted = sent.get(RESPONSE_FORMAT_FIELD)
    if not isinstance(wanted, dict):
        return sent
    if not _is_workers_ai(model):
        return sent | {RESPONSE_FORMAT_FIELD: _shaped(wanted, _enveloped)}
    if wanted.get("type") not in JSON_FORMAT_TYPES:
        # Text is the default, and the input schemas of most models do not know the value "text".
        return {name: value for name, value in sent.items() if name != RESPONSE_FORMAT_FIELD}
    return sent | {RESPONSE_FORMAT_FIELD: _shaped(wanted, _bare)}


def _is_workers_ai(model: LlmModel) -> bool:
    return not model.local and model.host is Provider.WORKERS_AI


def _shaped(wanted: dict[str, Any], shape: Any) -> dict[str, Any]:
    schema = wanted.get("json_schema")
    return wanted | {"json_schema": shape(schema)} if isinstance(schema, dict) else wanted


def _bare(schema: dict[str, Any]) -> dict[str, Any]:
    inner = schema.get("schema")
    return inner if isinstance(inner, dict) and schema.keys() <= WRAPPER else schema


def _enveloped(schema: dict[str, Any]) -> dict[str, Any]:
    return (
        schema if "schema" in schema and schema.keys() <= WRAPPER else {"name": SCHEMA_NAME, "schema": schema}
    )
