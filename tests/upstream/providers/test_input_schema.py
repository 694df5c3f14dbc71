"""The models that accept a chat, by their input schema."""

from typing import Any

import pytest

from chat.upstream.providers.input_schema import is_for_chat
from tests.fake_cloudflare.models import CHAT_SCHEMA, DECISION_SCHEMA

MESSAGES: dict[str, Any] = {"properties": {"messages": {}}, "required": ["messages"]}
EMBEDS: dict[str, Any] = {"properties": {"text": {}}, "required": ["text"]}


@pytest.mark.parametrize(
    ("schema", "chats"),
    [
        (CHAT_SCHEMA, True),
        (DECISION_SCHEMA, False),
        (EMBEDS, False),
        (MESSAGES, True),
        ({"properties": {"prompt": {}}}, True),
        ({"oneOf": [EMBEDS, MESSAGES]}, True),
        (
            {"anyOf": [{"type": "object", "oneOf": [EMBEDS, MESSAGES]}, {"properties": {"requests": {}}}]},
            True,
        ),
        ({"anyOf": [{"oneOf": [EMBEDS]}, DECISION_SCHEMA]}, False),
        ({"properties": {"prompt": {}, "image": {}}, "required": ["prompt", "image"]}, False),
        ({}, True),
        (None, True),
        ("string", True),
        ({"oneOf": "x", "properties": []}, True),
    ],
)
def test_by_the_fields_that_one_variant_takes_and_requires(schema: Any, chats: bool) -> None:
    assert is_for_chat(schema) is chats
