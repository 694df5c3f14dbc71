"""The requests of a run with tools fit into the window of its model, whatever tools and calls bring."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.engine.generation import tool_messages
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.token_budget import default_max_tokens, estimate_text_tokens, fit

MODELS = st.builds(
    LlmModel,
    id=st.just("@cf/a/b"),
    name=st.just("B"),
    window=st.integers(4_000, 32_000),
    reasoning=st.booleans(),
    tools=st.just(True),
)


def tool(number: int, chars: int) -> Any:
    return SimpleNamespace(declaration={"name": f"tool_{number}", "description": "d" * chars})


def tokens(request: ChatRequest) -> int:
    """Count all that the model reads, and the limit of its reply."""
    fields = ("content", "reasoning") if request.model.reasoning else ("content",)
    texts = [message.get(name, "") for message in request.messages for name in fields]
    texts += [
        call["function"]["arguments"] for each in request.messages for call in each.get("tool_calls", ())
    ]
    texts += [json.dumps(each) for each in request.raw_parameters.get("tools", ())]
    return estimate_text_tokens("".join(texts)) + request.max_tokens


def planned(model: LlmModel, history: int) -> ChatRequest:
    turns = [
        {"role": role, "content": "word " * 200} for _ in range(history) for role in ("user", "assistant")
    ]
    fitted = fit([*turns, {"role": "user", "content": "What is new?"}], model)
    return ChatRequest(fitted.messages, model, fitted.max_tokens)


@given(
    MODELS,
    st.integers(0, 40),
    st.lists(st.integers(0, 9_000), max_size=30),
    st.lists(st.tuples(st.integers(1, 9_000), st.integers(1, 100_000)), max_size=8),
    st.integers(0, 9_000),
)
def test_a_request_with_tools_fits(
    model: LlmModel, history: int, tools: list[int], calls: list[tuple[int, int]], thought: int
) -> None:
    request = tool_messages.with_tools(planned(model, history), map(tool, range(len(tools)), tools))
    request = tool_messages.with_system(request, ["Today is Monday."])
    request = tool_messages.with_system(request, tool_messages.fitting(request, ["found " * 20_000]))
    request = tool_messages.within_window(request)
    assert tokens(request) <= model.window
    asked = {
        "role": "assistant",
        "content": "",
        "reasoning": "t" * thought,
        "tool_calls": [
            {"id": f"c{n}", "function": {"name": "f", "arguments": '"' + "a" * chars + '"'}}
            for n, (chars, _) in enumerate(calls)
        ],
    }
    following = tool_messages.within_window(
        tool_messages.following(request, asked, ["r" * size for _, size in calls])
    )
    least = replace(request, messages=[*request.messages, asked], max_tokens=1_000 + 100 * len(calls))
    # What the model wrote itself is never cut.
    assert tokens(following) <= max(model.window, tokens(least))


@pytest.mark.parametrize(
    ("window", "chars", "declared"),
    [(128_000, 200, 20), (8_000, 300, 20), (8_000, 3_000, 3), (8_000, 30_000, 0)],
)
def test_tools_beyond_the_room_are_not_declared(window: int, chars: int, declared: int) -> None:
    model = LlmModel("@cf/a/b", "B", window=window, tools=True)
    request = tool_messages.with_tools(planned(model, 0), [tool(n, chars) for n in range(20)])
    request = tool_messages.within_window(request)
    assert len(request.raw_parameters.get("tools", ())) == declared
    assert request.max_tokens == default_max_tokens(model)


def test_a_long_result_leaves_room_to_later_calls() -> None:
    model = LlmModel("@cf/a/b", "B", window=24_000, tools=True)
    request = tool_messages.with_tools(planned(model, 0), [tool(0, 100)])
    asked = {"content": "", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    for least in (10_000, 5_000, 2_500):
        request = tool_messages.following(request, asked, ["舟" * 100_000])
        assert len(request.messages[-1]["content"]) > least
