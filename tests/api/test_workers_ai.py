"""Workers AI's own API: its envelopes, its codes, its frames, and the curl of its documentation."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.api.program import MODEL, RUN, Program, question
from tests.fake_says import says_line
from tests.fake_workers_ai import Fake
from tests.server import Server

ACCOUNT = "/client/v4/accounts/any/ai"
PROMPT = {"prompt": "fake: words tokens=3 delay=0.2"}


@pytest.mark.parametrize("body", [PROMPT, {"messages": [{"role": "user", "content": PROMPT["prompt"]}]}])
def test_a_whole_answer(alices: Program, body: dict[str, Any]) -> None:
    answer = alices.run(body)
    assert answer.status_code == 200
    told = answer.json()
    assert (told["success"], told["errors"], told["messages"]) == (True, [], [])
    result = told["result"]
    assert (result["response"], result["tool_calls"]) == ("word1 word2 word3", [])
    assert result["usage"]["completion_tokens"] == 3
    assert float(answer.headers["cf-ai-neurons"]) > 0


def test_the_curl_of_its_documentation(server: Server, alices: Program, fake: Fake) -> None:
    """It says nothing of JSON, so curl calls it a form."""
    curl = ["curl", "-s", f"{server.url}{RUN}/{MODEL}", "-X", "POST"]
    curl += ["-H", f"Authorization: Bearer {alices.key}", "-d", '{ "prompt": "Where is Hello World from" }']
    told = subprocess.run(curl, check=True, capture_output=True, text=True).stdout
    assert '"response": "You said: Where is Hello World from"' in told
    assert fake.calls[-1]["body"]["messages"] == [{"role": "user", "content": "Where is Hello World from"}]


def test_a_stream(alices: Program) -> None:
    with alices.stream(f"{RUN}/{MODEL}", {"prompt": "fake: words tokens=20 delay=0.05"}) as events:
        frames = list(events)
    assert events.done
    said = "".join(frame["response"] for frame in frames)
    assert said.split() == [f"word{number}" for number in range(1, 21)]
    assert all(set(frame) == {"response"} for frame in frames[:-1])
    assert len(frames) > 2
    assert frames[-1]["usage"]["completion_tokens"] == 20
    with alices.stream(f"{RUN}/{MODEL}", {"prompt": "fake: reasoning think=2 tokens=1 delay=0"}) as events:
        thought = "".join(frame.get("reasoning_content", "") for frame in events)
    assert thought == "thought1 thought2 "


def test_the_model_may_stand_in_the_body(alices: Program) -> None:
    answer = alices.client.post(f"{ACCOUNT}/run", json={"model": MODEL, "input": PROMPT})
    assert answer.json()["result"]["response"] == "word1 word2 word3"
    assert alices.client.post(f"{ACCOUNT}/run", json={"model": MODEL}).json()["errors"][0]["code"] == 5006


def test_its_address_of_openais_api(alices: Program) -> None:
    answer = alices.client.post(f"{ACCOUNT}/v1/chat/completions", json=question(PROMPT["prompt"]))
    assert answer.json()["choices"][0]["message"]["content"] == "word1 word2 word3"


def test_json_and_tool_calls_are_objects(alices: Program) -> None:
    wanted = {"response_format": {"type": "json_object"}, "prompt": says_line('{"a": [1]}')}
    assert alices.run(wanted).json()["result"]["response"] == {"a": [1]}
    assert alices.run({"prompt": says_line('{"a": [1]}')}).json()["result"]["response"] == '{"a": [1]}'
    tool = {"name": "weather", "description": "It", "parameters": {"type": "object"}}
    result = alices.run({"prompt": "fake: tools delay=0", "tools": [tool]}).json()["result"]
    assert result["tool_calls"] == [{"id": "call_1", "name": "weather", "arguments": {"at": "Oslo"}}]
    with alices.stream(f"{RUN}/{MODEL}", {"prompt": "fake: tools delay=0", "tools": [tool]}) as events:
        assert next(iter(events)) == {"response": "", "tool_calls": result["tool_calls"]}


@pytest.mark.parametrize(
    ("body", "model", "status", "code"),
    [
        ({}, MODEL, 400, 5006),
        ({"prompt": "x", "messages": [{"role": "user", "content": "x"}]}, MODEL, 400, 5006),
        ({"prompt": 7}, MODEL, 400, 5006),
        ({"prompt": "x", "raw": True}, MODEL, 400, 5006),
        ({"prompt": "x" * 1_100_000}, MODEL, 413, 3006),
        ({"prompt": "x"}, "@cf/none/such", 400, 5007),
        ({"prompt": "x"}, "two%0Alines", 400, 5007),
        ({"prompt": "fake: status code=3036"}, MODEL, 429, 3036),
        ({"prompt": "fake: status code=2016"}, MODEL, 424, 2016),
        ({"prompt": "fake: status code=10000"}, MODEL, 502, 7009),
        ({"prompt": "fake: status code=5021", "stream": True}, MODEL, 413, 5021),
    ],
)
def test_refusals(alices: Program, body: Any, model: str, status: int, code: int) -> None:
    answer = alices.run(body, model)
    told = answer.json()
    assert (answer.status_code, told["errors"][0]["code"]) == (status, code)
    assert (told["success"], told["result"], told["messages"]) == (False, None, [])
    assert told["errors"][0]["message"]


def test_a_bad_key(server: Server, program: Callable[..., Program]) -> None:
    stranger = Program(server.url, "chat_wrong")
    for answer in (stranger.run(PROMPT), stranger.client.get(f"{ACCOUNT}/models/search")):
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (401, 10000)
    assert program(run=False).run(PROMPT).status_code == 403
    assert program(list=False).client.get(f"{ACCOUNT}/models/search").status_code == 403
    stranger.client.close()


def test_the_models_are_listed_by_the_page(alices: Program) -> None:
    told = alices.client.get(f"{ACCOUNT}/models/search", params={"per_page": 2, "page": 2}).json()
    assert (told["success"], len(told["result"]), told["result_info"]["page"]) == (True, 2, 2)
    assert told["result_info"]["total_count"] > 4
    found = alices.client.get(f"{ACCOUNT}/models/search", params={"search": "glm-4.7-flash"}).json()["result"]
    assert [model["name"] for model in found] == [MODEL]
    assert {"property_id": "context_window", "value": "131072"} in found[0]["properties"]
    for wrong in ({"page": "0"}, {"page": "x"}, {"per_page": "-1"}):
        assert alices.client.get(f"{ACCOUNT}/models/search", params=wrong).status_code == 400
