"""Parts of messages and their fields: read, passed on to servers that may know them, or refused by name."""

import asyncio
import base64
from typing import Any

import pytest

from chat.api.document_parts import documents_of, with_texts
from chat.api.picture_parts import check_pictures
from chat.api.refusals import InvalidField
from chat.api.request_body import parse_params
from chat.upstream import pictures as upstream_pictures
from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.chat_request import messages_for_openai, messages_for_workers_ai
from tests.files import pictures

HOSTED = LlmModel("@cf/a/b", "B", 8_000, vision=True, reasoning=True)
GATEWAY = LlmModel("anthropic/claude", "G", 8_000, vision=True, host=Provider.GATEWAY)
ENDPOINT = LlmModel("lab", "L", 8_000, vision=True, host=Provider.ENDPOINT)
LOCAL = LlmModel("local/x", "X", 8_000, local=True, vision=True)
SEARCH = LlmModel("ai-search/x", "S", 8_000, host=Provider.AI_SEARCH, vision=True)
CLOSED, OPEN = (HOSTED, LOCAL, SEARCH), (ENDPOINT, GATEWAY)
ASKED = {"role": "user", "content": "hello"}
URL = "data:image/jpeg;base64," + base64.b64encode(pictures.jpeg()).decode()
MARK = {"type": "ephemeral"}
HI = {"type": "text", "text": "Hi"}


def sent(model: LlmModel, message: dict[str, Any]) -> dict[str, Any]:
    """Return the message as the model's server gets it."""
    messages = parse_params({"messages": [message, ASKED]}, model).messages
    check_pictures(messages, model)
    messages = with_texts(messages, {each: f"<{each.name}>" for each in documents_of(messages)})
    messages = asyncio.run(upstream_pictures.with_data(messages, no_pictures, None, model))
    if model.counts_against_quota:
        return messages_for_workers_ai(messages, model)[0]
    return messages_for_openai(messages, reasoning=True)[0]


async def no_pictures(person: object, keys: object) -> dict[str, bytes]:
    return {}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": [*parts]}


def refused(model: LlmModel, message: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(InvalidField) as error:
        sent(model, message)
    assert error.value.status == 400
    return error.value.param, error.value.code


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ({"type": "text", "text": "Hi", "weird": 1}, "weird"),
        ({"type": "image_url", "image_url": {"url": URL}, "weird": 1}, "weird"),
        ({"type": "image_url", "image_url": {"url": URL, "format": "x"}}, "image_url.format"),
        ({"type": "image_url", "image_url": {"url": URL, "detail": "low"}, "weird": {"a": 1}}, "weird"),
    ],
)
def test_a_part_s_unknown_field_is_passed_on_or_refused(part: dict[str, Any], name: str) -> None:
    for model in OPEN:
        assert sent(model, user(HI, part))["content"] == [HI, part]
    for model in CLOSED:
        assert refused(model, user(HI, part)) == (f"messages[0].content[1].{name}", "unknown_parameter")


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_a_mark_of_a_cache_is_passed_on_or_has_no_effect(role: str) -> None:
    marked = HI | {"cache_control": MARK}
    message = {"role": role, "content": [{"type": "text", "text": "Oh. "}, marked], "tool_call_id": None}
    for model in OPEN:
        assert sent(model, message)["content"] == [{"type": "text", "text": "Oh. "}, marked]
    for model in CLOSED:
        assert sent(model, message)["content"] == "Oh. Hi"


def test_nulls_and_values_of_earlier_replies_are_left_out() -> None:
    part = {"type": "output_text", "text": "Hi", "annotations": [{"a": 1}], "logprobs": [], "weird": None}
    for model in (*OPEN, *CLOSED):
        assert sent(model, {"role": "assistant", "content": [part]})["content"] == "Hi"


def test_a_document_keeps_its_mark() -> None:
    file = {"filename": "a.txt", "file_data": "data:text/plain,a"}
    part = {"type": "file", "file": file, "cache_control": MARK}
    for model in OPEN:
        text = {"type": "text", "text": "<a.txt>"}
        assert sent(model, user(HI, part))["content"] == [text | {"cache_control": MARK}, HI]
    for model in CLOSED:
        assert sent(model, user(HI, part))["content"] == "<a.txt>\n\nHi"
    for model in (*OPEN, *CLOSED):
        unknown = {"type": "file", "file": file | {"weird": 1}}
        assert refused(model, user(unknown)) == ("messages[0].content[0].file.weird", "unknown_parameter")


@pytest.mark.parametrize(
    ("role", "name", "value"),
    [
        ("user", "tool_calls", [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]),
        ("system", "tool_calls", [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]),
        ("user", "tool_call_id", "c"),
        ("assistant", "tool_call_id", "c"),
    ],
)
def test_a_field_of_another_role_is_passed_on_or_refused(role: str, name: str, value: Any) -> None:
    message = {"role": role, "content": "x", name: value}
    for model in OPEN:
        assert sent(model, message) == message
    for model in CLOSED:
        assert refused(model, message) == (f"messages[0].{name}", "unknown_parameter")
    for model in (*OPEN, *CLOSED):
        assert sent(model, message | {name: None}) == {"role": role, "content": "x"}


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [{"type": "function", "function": {"name": "f"}, "weird": 1}]},
        {"tools": [{"type": "function", "function": {"name": "f", "weird": 1}}]},
        {"response_format": {"type": "json_object", "weird": 1}},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {}, "weird": 1}}},
    ],
)
def test_definitions_are_passed_on_as_they_are(fields: dict[str, Any]) -> None:
    for model in (*OPEN, *CLOSED):
        assert parse_params({"messages": [ASKED], **fields}, model).parameters == fields


@pytest.mark.parametrize(
    ("more", "function"), [({"weird": 1}, {}), ({}, {"weird": 1}), ({"cache_control": MARK}, {})]
)
def test_fields_of_earlier_calls_are_passed_on(more: dict[str, Any], function: dict[str, Any]) -> None:
    call = CALL | more | {"function": CALL["function"] | function}
    for model in (*OPEN, *CLOSED):
        assert sent(model, {"role": "assistant", "tool_calls": [call]})["tool_calls"] == [call]


# Parts of replies that other APIs have

THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "Eq"}
HIDDEN = {"type": "redacted_thinking", "data": "Em"}
USE = {"type": "tool_use", "id": "c", "name": "weather", "input": {"city": "Oslo"}}
CALL: dict[str, Any] = {
    "id": "c",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
}


def assistant(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [*parts], **more}


@pytest.mark.parametrize(
    ("message", "reasoning", "blocks"),
    [
        (assistant(THOUGHT, HIDDEN, HI), "Hm.", [THOUGHT, HIDDEN]),
        (assistant(THOUGHT, HI, reasoning_content="Ah."), "Ah.", [THOUGHT]),
        (assistant(THOUGHT, HI, thinking_blocks=[HIDDEN]), "Hm.", [HIDDEN]),
        (assistant({"type": "reasoning", "text": "Hm."}, HI), "Hm.", None),
        (assistant({"type": "reasoning", "summary": [{"text": "Hm."}]}, HI), "Hm.", None),
        (assistant({"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, HI), "Hm.", None),
    ],
)  # fmt: skip
def test_thoughts_become_the_reasoning_of_the_history(
    message: dict[str, Any], reasoning: str, blocks: list[Any] | None
) -> None:
    for model in OPEN:
        got = sent(model, message)
        assert (got["content"], got["reasoning_content"]) == ("Hi", reasoning)
        if blocks:
            assert got["thinking_blocks"] == blocks
    assert sent(HOSTED, message) == {"role": "assistant", "content": "Hi", "reasoning": reasoning}


def test_hidden_thoughts_alone_are_for_servers_that_read_them() -> None:
    assert sent(ENDPOINT, assistant(HIDDEN, HI))["thinking_blocks"] == [HIDDEN]
    assert sent(HOSTED, assistant(HIDDEN, HI)) == {"role": "assistant", "content": "Hi"}


@pytest.mark.parametrize("message", [assistant(HI, USE), assistant(HI, USE, tool_calls=[CALL])])
def test_uses_of_tools_become_calls(message: dict[str, Any]) -> None:
    for model in OPEN:
        assert sent(model, message) == {"role": "assistant", "content": "Hi", "tool_calls": [CALL]}
    assert [call["id"] for call in sent(HOSTED, message)["tool_calls"]] == ["c"]


@pytest.mark.parametrize("part", [THOUGHT, HIDDEN, USE])
def test_only_replies_have_such_parts(part: dict[str, Any]) -> None:
    for model in (*OPEN, *CLOSED):
        assert refused(model, user(HI, part)) == ("messages[0].content[1].type", "invalid_value")


# Recordings and files

SOUND = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
FILM = {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}, "cache_control": MARK}
PASSED = [
    SOUND,
    FILM,
    {"type": "audio_url", "audio_url": {"url": "data:audio/wav;base64,UklGRg=="}},
    {"type": "file", "file": {"file_id": "file-1"}},
    {"type": "input_file", "file_url": "https://example.org/a.pdf"},
    {"type": "file", "file": {"filename": "a.pdf", "file_data": "https://example.org/a.pdf"}},
]


@pytest.mark.parametrize("part", PASSED)
def test_other_files_are_for_the_servers_that_may_take_them(part: dict[str, Any]) -> None:
    for model in OPEN:
        assert sent(model, user(HI, part))["content"] == [HI, part]
    for model in CLOSED:
        param, _code = refused(model, user(HI, part))
        assert param.startswith("messages[0].content[1].")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "video_url", "video_url": {"url": "http://169.254.169.254/latest"}},
        {"type": "video_url", "video_url": {"url": "/etc/passwd"}},
        {"type": "video_url", "video_url": "file:///etc/passwd"},
        {
            "type": "audio_url",
            "audio_url": {"url": "https://example.org/", "more": [{"url": "http://[::1]/"}]},
        },
        {"type": "input_file", "file_url": "http://10.0.0.1/a.pdf"},
        {"type": "file", "file": {"file_data": "http://localhost/a.pdf"}},
        {"type": "input_audio", "input_audio": {"data": "http://localhost/a.wav", "format": "wav"}},
    ],
)
def test_their_addresses_are_those_of_the_web(part: dict[str, Any]) -> None:
    for model in OPEN:
        param, code = refused(model, user(HI, part))
        assert (param.partition(".")[0], code) == ("messages[0]", "invalid_value")
        assert param.startswith("messages[0].content[1].")
