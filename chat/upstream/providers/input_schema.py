"""Detection of chat models by the JSON Schema of their input.

The schema comes from `GET /accounts/<id>/ai/models/schema?model=…`. It is needed because Cloudflare's "Text
Generation" list also contains decision models and others that accept neither messages nor a prompt.
"""

from collections.abc import Iterator
from typing import Any

PROMPT_PROPERTIES = {"messages", "prompt"}
VARIANTS = ("oneOf", "anyOf", "allOf")
MAX_VARIANT_DEPTH = 6  # levels of variants within variants


def is_for_chat(schema: Any) -> bool:
    """Return True if a variant of the input accepts messages or a prompt and requires nothing else.

    Also True for an invalid schema or one without fields, so that no model is hidden on a guess.
    """
    variants = list(_variants(schema))
    return not variants or any(
        _takes_only_a_prompt(properties, required) for properties, required in variants
    )


def _variants(schema: Any, depth: int = 0) -> Iterator[tuple[set[str], set[str]]]:
    """Yield (names of all fields, names of the required fields) of each variant."""
    if not isinstance(schema, dict) or depth > MAX_VARIANT_DEPTH:
        return
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict) and properties:
        yield set(properties), set(map(str, required)) if isinstance(required, list) else set()
    for name in VARIANTS:
        variants = schema.get(name)
        for each in variants if isinstance(variants, list) else ():
            yield from _variants(each, depth + 1)


def _takes_only_a_prompt(properties: set[str], required: set[str]) -> bool:
    return bool(PROMPT_PROPERTIES & properties) and required <= PROMPT_PROPERTIES
