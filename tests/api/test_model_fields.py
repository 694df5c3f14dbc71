"""Fields that the input schema of a model does not name: done here, or refused by name, never ignored."""

import json
from typing import Any

import pytest

from tests.api.client import CHAT, MODEL, RUN, Program, question
from tests.fake_cloudflare.server import Fake

CLASSIC = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
REASONING = "@cf/qwen/qwen3-30b-a3b-fp8"  # classic too
ENDLESS = "fake: words tokens=4000 delay=0.01"
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def last_request_body(fake: Fake) -> dict[str, Any]:
    return dict(fake.calls[-1]["body"])


@pytest.mark.parametrize("stop", ["word4", [" word9", "d4"]])
def test_a_stop_ends_the_reply_and_the_request(alices: Program, fake: Fake, stop: Any) -> None:
    response = alices.chat(ENDLESS, model=CLASSIC, stop=stop).json()
    [choice] = response["choices"]
    expected = "word1 word2 word3 " if stop == "word4" else "word1 word2 word3 wor"
    assert (choice["message"]["content"], choice["finish_reason"]) == (expected, "stop")
    assert "stop" not in last_request_body(fake)
    fake.wait_for(lambda calls: calls[-1]["closed_by_client"])
    assert 4 <= response["usage"]["completion_tokens"] < 100
    assert response["usage"]["prompt_tokens"] > 0


def test_a_stop_ends_a_stream(alices: Program, fake: Fake) -> None:
    options = {"model": CLASSIC, "stop": "d2 w", "stream_options": {"include_usage": True}}
    with alices.stream(CHAT, question(ENDLESS, **options)) as events:
        chunks = list(events)
    assert events.done
    texts = [chunk["choices"][0]["delta"].get("content", "") for chunk in chunks[:-1]]
    assert "".join(texts) == "word1 wor"
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert 3 <= chunks[-1]["usage"]["completion_tokens"] < 100
    fake.wait_for(lambda calls: calls[-1]["closed_by_client"])


def test_a_stop_on_the_native_route(alices: Program, fake: Fake) -> None:
    result = alices.run({"prompt": ENDLESS, "stop": ["word3"]}, CLASSIC).json()["result"]
    assert (result["response"], result["finish_reason"]) == ("word1 word2 ", "stop")
    with alices.stream(f"{RUN}/{CLASSIC}", {"prompt": ENDLESS, "stop": "word3"}) as events:
        frames = list(events)
    assert "".join(frame["response"] for frame in frames) == "word1 word2 "
    fake.wait_for(lambda calls: calls[-1]["closed_by_client"])


def test_usage_that_is_unknown_at_a_stop_is_estimated(alices: Program) -> None:
    """The older frames have no usage but in the last one."""
    response = alices.chat("fake: native tokens=4000 delay=0.01", model=CLASSIC, stop="word3").json()
    assert response["choices"][0]["message"]["content"] == "word1 word2 "
    usage = response["usage"]
    assert (usage["estimated"], usage["completion_tokens"]) == (True, 3)
    assert 5 < usage["prompt_tokens"] < 50


def test_text_that_may_be_a_stop_comes_with_the_end(alices: Program) -> None:
    response = alices.chat("fake: words tokens=3 delay=0", model=CLASSIC, stop=["word3 and more"]).json()
    assert response["choices"][0]["message"]["content"] == "word1 word2 word3"
    assert response["usage"]["completion_tokens"] == 3


def test_a_stop_cuts_a_reply_that_was_not_streamed(alices: Program) -> None:
    wanted = {"model": CLASSIC, "response_format": {"type": "json_object"}, "stop": "}"}
    content = alices.chat('fake: json text={"a":1}', **wanted).json()["choices"][0]["message"]["content"]
    assert "}" not in content


def test_a_model_that_knows_stop_gets_it(alices: Program, fake: Fake) -> None:
    assert alices.chat("fake: words tokens=3 delay=0", stop="word9").status_code == 200
    assert last_request_body(fake)["stop"] == "word9"


def test_one_tool_call_at_a_time(alices: Program, fake: Fake) -> None:
    wanted = {"model": CLASSIC, "tools": [WEATHER], "parallel_tool_calls": False}
    message = alices.chat("fake: tools calls=2 delay=0", **wanted).json()["choices"][0]["message"]
    assert len(message["tool_calls"]) == 1
    assert "parallel_tool_calls" not in last_request_body(fake)


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (CLASSIC, "logit_bias", {"50256": -100}),
        (CLASSIC, "reasoning_effort", "high"),
        (REASONING, "reasoning_effort", "none"),
        (CLASSIC, "chat_template_kwargs", {"enable_thinking": True}),
        (REASONING, "chat_template_kwargs", {"enable_thinking": False}),
        (MODEL, "top_k", 5),
        (MODEL, "repetition_penalty", 1.1),
    ],
)
@pytest.mark.parametrize("native", [False, True])
def test_fields_unknown_to_the_model_are_refused(
    alices: Program, fake: Fake, native: bool, model: str, name: str, value: Any
) -> None:
    calls = len(fake.calls)
    body = {name: value, "model": model}
    response = alices.run({"prompt": "x", name: value}, model) if native else alices.chat("x", **body)
    assert response.status_code == 400
    assert f"This model doesn’t support “{name}”." in json.dumps(response.json(), ensure_ascii=False)
    assert len(fake.calls) == calls


@pytest.mark.parametrize(
    ("model", "defaults"),
    [
        (
            CLASSIC,
            {
                "logit_bias": {},
                "reasoning_effort": "none",
                "chat_template_kwargs": {"enable_thinking": False},
                "stop": [],
                "frequency_penalty": 0,
                "presence_penalty": 0,
            },
        ),
        (CLASSIC, {"tools": [WEATHER], "parallel_tool_calls": True, "reasoning_effort": "medium"}),
        (CLASSIC, {"logit_bias": None, "reasoning_effort": None, "stop": None}),
        (MODEL, {"repetition_penalty": 1, "top_k": None}),
    ],
)
def test_defaults_are_accepted_and_not_sent(
    alices: Program, fake: Fake, model: str, defaults: dict[str, Any]
) -> None:
    response = alices.chat("fake: words tokens=1 delay=0", model=model, **defaults)
    assert response.status_code == 200, response.text
    known = {"messages", "max_tokens", "stream", "tools", "frequency_penalty", "presence_penalty"}
    assert set(last_request_body(fake)) <= known
