"""Whether a model can be asked like a chat, by the JSON Schema of its input.

`GET /accounts/<id>/ai/models/schema?model=…` has it. Cloudflare files decision models and others under "Text
Generation" that take neither messages nor a prompt.
"""

from collections.abc import Iterator
from typing import Any

QUESTIONS = {"messages", "prompt"}
VARIANTS = ("oneOf", "anyOf", "allOf")
DEEPEST = 6  # levels of variants within variants


def is_for_chat(schema: Any) -> bool:
    """Whether one variant of the input takes messages or a prompt and requires nothing else.

    True also of what is no schema, or says nothing of its fields: a model is not hidden on a guess.
    """
    variants = list(_variants(schema))
    return not variants or any(_asks(properties, required) for properties, required in variants)


def _variants(schema: Any, depth: int = 0) -> Iterator[tuple[set[str], set[str]]]:
    """The names of the fields of each variant, and of those it requires."""
    if not isinstance(schema, dict) or depth > DEEPEST:
        return
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict) and properties:
        yield set(properties), set(map(str, required)) if isinstance(required, list) else set()
    for name in VARIANTS:
        variants = schema.get(name)
        for each in variants if isinstance(variants, list) else ():
            yield from _variants(each, depth + 1)


def _asks(properties: set[str], required: set[str]) -> bool:
    return bool(QUESTIONS & properties) and required <= QUESTIONS
