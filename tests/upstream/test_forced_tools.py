"""A model that cannot be made to call a tool is not asked to: llama.cpp would ignore it without a word."""

from typing import Any

import pytest

from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.workers_ai import build_local_request

QUESTION = [{"role": "user", "content": "hello"}]
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {}}}
NAMED = {"type": "function", "function": {"name": "weather"}}


def request_body(choice: Any, *, tools: bool) -> dict[str, Any]:
    model = LlmModel("local/a", "A", window=4_096, local=True, tools=tools)
    sent = {"tools": [TOOL], "tool_choice": choice}
    return build_local_request(
        "http://127.0.0.1:1", "key", ChatRequest(QUESTION, model, 100, raw_parameters=sent)
    ).body


@pytest.mark.parametrize("choice", ["required", NAMED])
def test_it_is_refused_by_name(choice: Any) -> None:
    with pytest.raises(UpstreamError) as raised:
        request_body(choice, tools=False)
    assert (raised.value.kind, raised.value.permanent) == (ErrorKind.INVALID, True)
    assert "“tool_choice”" in raised.value.message


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_a_free_tool_choice_is_passed_on(choice: str) -> None:
    assert request_body(choice, tools=False)["tool_choice"] == choice


@pytest.mark.parametrize("choice", ["required", NAMED])
def test_a_model_that_can_is_asked(choice: Any) -> None:
    assert request_body(choice, tools=True)["tool_choice"] == choice
