"""JSON schemas of requests and responses of the API, from the structs that its bodies are checked with."""

from functools import cache
from typing import Any

Object = dict[str, Any]
STRING_SCHEMA = {"type": "string"}
UUID = {"type": "string", "format": "uuid"}
REFERENCES = "#/components/schemas/{name}"


def run_schemas() -> tuple[Object, Object]:
    """Return the schemas of a request to a model and of its result, without references."""
    named = schemas()
    return _resolved(named["Run"], named), _resolved(named["ResultFields"], named)


@cache
def schemas() -> Object:
    """Return all schemas by their names in `#/components/schemas`."""
    # Not at the top: they are needed when the description is asked for.
    import msgspec

    from . import bodies, passed_fields, replies

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


HINT = {"description": "Without an effect on the reply. Servers of OpenAI's API get it."}


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
