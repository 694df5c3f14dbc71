"""The declaration of a tool server's tool, in the form that all models accept.

Each server of models refuses other parts of JSON Schema, and with one tool the whole request: OpenAI a list
of alternatives at the top and an object without `properties`, others `$ref`, llama.cpp a `pattern` without
anchors and long strings. What is left here is accepted by all. The tool server checks what it gets itself.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from chat.wire.text import sanitize

MAX_DESCRIPTION_CHARS = 1_024  # of OpenAI
MAX_FUNCTION_CHARS = 64  # likewise
MAX_NAME_CHARS = 128  # of a tool, as the column holds
MAX_SCHEMA_CHARS = 16_000
MAX_SCHEMA_NODES = 500
MAX_SCHEMA_DEPTH = 10
MAX_CHOICES = 200
MAX_FORMAT_CHARS = 40
MAX_LIMIT = 2**53  # of a number; PostgreSQL returns larger ones as others, and each reading finds a change
TYPES = {"string", "number", "integer", "boolean", "array", "object"}
MAX_GIVEN_CHARS = 8 * MAX_SCHEMA_CHARS  # as the server sent it: each reference may bring all of it again
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
# Letters, a sign and a pattern that show nothing; the others are told by their category.
INVISIBLE = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
DIGEST = re.compile(r"_[0-9a-f]{8}\Z")


class Unfit(ValueError):
    """The tool cannot be offered: its name is none, or its schema cannot be brought into this form."""


def check_name(name: str) -> None:
    """Raise Unfit if a tool has no name that people can read."""
    if not 0 < len(name) <= MAX_NAME_CHARS or not name.isprintable() or INVISIBLE.search(name):
        raise Unfit


def function_name(server: str, tool: str) -> str:
    """Return the name by which a model calls a tool: the server's, which has no `_`, then `__`.

    No tool of this site has such a name. One that has to be changed or cut ends with a digest of itself, so
    that no two become the same.
    """
    room = MAX_FUNCTION_CHARS - len(server) - 2
    name = NOT_IN_NAMES.sub("_", tool)
    if name != tool or len(name) > room or DIGEST.search(name):  # which may be that of another one
        digest = hashlib.sha256(tool.encode()).hexdigest()[:8]
        name = f"{name[: room - 9]}_{digest}"
    return f"{server}__{name}"


def description(text: object) -> str:
    """Return the description of a tool or of a parameter without what a person who allows it cannot see."""
    if not isinstance(text, str):
        return ""
    kept = (c for c in sanitize(text[: 4 * MAX_DESCRIPTION_CHARS]) if c in "\n\t" or is_visible(c))
    return "".join(kept).strip()[:MAX_DESCRIPTION_CHARS]


def is_visible(character: str) -> bool:
    """Return False for control, format and private characters: whole sentences can be written in those."""
    return not INVISIBLE.match(character) and not unicodedata.category(character).startswith("C")


def parameters(schema: object) -> dict[str, Any]:
    """Return the schema of a tool's arguments. Raises Unfit."""
    if not isinstance(schema, dict):
        raise Unfit
    _check_length(schema, MAX_GIVEN_CHARS)
    found = _Schema(schema).simplified()
    _check_length(found, MAX_SCHEMA_CHARS)
    return found


def _check_length(schema: dict[str, Any], limit: int) -> None:
    try:
        if len(json.dumps(schema, allow_nan=False)) > limit:
            raise Unfit
    except ValueError:  # not a number
        raise Unfit from None


class _Schema:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def simplified(self) -> dict[str, Any]:
        """Return an object, with the properties of all alternatives at the top."""
        merged, met = self._merged(self._root, frozenset())
        found = self._object(merged, met, 0)
        for branch in _alternatives(merged):
            more = self._object(*self._merged(branch, met), 0)
            found["properties"] = more["properties"] | found["properties"]
        return found

    def _node(self, schema: object, met: frozenset[str], depth: int) -> dict[str, Any]:
        """Return a schema within another one. `met`: the references that led here."""
        if not isinstance(schema, dict) or depth > MAX_SCHEMA_DEPTH:
            self._count()
            return {}
        merged, met = self._merged(schema, met)
        others = [self._node(each, met, depth + 1) for each in _alternatives(merged)]
        found: dict[str, Any] = others[0] if len(others) == 1 else {"anyOf": others} if others else {}
        if words := description(merged.get("description")):
            found["description"] = words
        kind = _type(merged)
        if kind == "object":
            return found | self._object(merged, met, depth)
        if kind == "array":
            found["items"] = self._node(merged.get("items"), met, depth + 1)
        return found | ({"type": kind} if kind else {}) | _limits(kind, merged)

    def _object(self, merged: dict[str, Any], met: frozenset[str], depth: int) -> dict[str, Any]:
        properties = {
            sanitize(name): self._node(each, met, depth + 1)
            for name, each in _mapping(merged.get("properties")).items()
        }
        required = [name for name in dict.fromkeys(_texts(merged.get("required"))) if name in properties]
        return {"type": "object", "properties": properties} | ({"required": required} if required else {})

    def _merged(self, schema: dict[str, Any], met: frozenset[str]) -> tuple[dict[str, Any], frozenset[str]]:
        """Return the schema with its reference and its `allOf` put into it. Raises Unfit."""
        self._count()
        found, parts = dict(schema), list(_dicts(schema.get("allOf")))
        if isinstance(reference := schema.get("$ref"), str):
            if reference in met:  # it contains itself
                return {}, met
            met |= {reference}
            parts.insert(0, self._target(reference))
        for part in parts:
            more, met = self._merged(part, met)
            properties = _mapping(more.get("properties")) | _mapping(found.get("properties"))
            required = [*_texts(found.get("required")), *_texts(more.get("required"))]
            found = more | found | {"properties": properties, "required": required}
        return found, met

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > MAX_SCHEMA_NODES:
            raise Unfit

    def _target(self, reference: str) -> dict[str, Any]:
        """Return the part of the schema at a JSON Pointer; nothing for one elsewhere."""
        found: Any = self._root
        for step in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ("",):
            found = _mapping(found).get(step.replace("~1", "/").replace("~0", "~"))
        return _mapping(found)


def _limits(kind: str, merged: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices and the range of a value."""
    found: dict[str, Any] = {}
    choices = merged["enum"] if isinstance(merged.get("enum"), list) else [merged.get("const")]
    kept = [each for each in choices[:MAX_CHOICES] if isinstance(each, str) or _is_exact(each)]
    if kept:
        found["enum"] = [sanitize(each) if isinstance(each, str) else each for each in kept]
    for name in ("minimum", "maximum"):
        limit = merged.get(name)
        if kind in ("number", "integer") and _is_exact(limit):
            found[name] = limit
    if kind == "string" and isinstance(merged.get("format"), str):
        found["format"] = sanitize(merged["format"])[:MAX_FORMAT_CHARS]
    return found


def _is_exact(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) <= MAX_LIMIT


def _alternatives(merged: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = [each for name in ("anyOf", "oneOf") for each in _dicts(merged.get(name))]
    return [each for each in found if each.get("type") != "null"]


def _type(merged: Mapping[str, Any]) -> str:
    """Return the one type beside null; "" if there are several, or none is said."""
    given = merged.get("type")
    kinds = [each for each in (given if isinstance(given, list) else [given]) if each != "null"]
    if len(kinds) == 1 and isinstance(kinds[0], str) and kinds[0] in TYPES:
        return kinds[0]
    return "object" if given is None and merged.get("properties") else ""


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    return (each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict))


def _texts(value: object) -> Iterator[str]:
    return (each for each in (value if isinstance(value, list) else ()) if isinstance(each, str))


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
