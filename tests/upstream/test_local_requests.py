"""Requests to the local model: what llama.cpp would ignore without a word, or reject, is not asked of it."""

from typing import Any

import pytest

from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.openai_compatible import build_local_request

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


ASKED = {"role": "user", "content": "Count from one to ten in words, separated by commas."}


@pytest.mark.parametrize(("last", "thinking"), [("user", None), ("assistant", {"enable_thinking": False})])
def test_no_thinking_comes_before_words_that_are_there_already(last: str, thinking) -> None:
    model = LlmModel("local/a", "A", window=1_000, local=True)
    body = build_local_request(
        "http://local", "key", ChatRequest([ASKED, {"role": last, "content": "one, two"}], model, 10)
    ).body
    assert body.get("chat_template_kwargs") == thinking
