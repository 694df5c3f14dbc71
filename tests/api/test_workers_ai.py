"""Workers AI's own API: its envelopes, its codes, its frames, and the curl of its documentation."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.api.client import MODEL, RUN, Program, question
from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

ACCOUNT = "/client/v4/accounts/any/ai"
CLASSIC = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
PROMPT = {"prompt": "fake: words tokens=3 delay=0.2"}


@pytest.mark.parametrize("body", [PROMPT, {"messages": [{"role": "user", "content": PROMPT["prompt"]}]}])
def test_a_whole_answer(alices: Program, body: dict[str, Any]) -> None:
    response = alices.run(body)
    assert response.status_code == 200
    told = response.json()
    assert (told["success"], told["errors"], told["messages"]) == (True, [], [])
    result = told["result"]
    assert (result["response"], result["tool_calls"]) == ("word1 word2 word3", [])
    assert result["usage"]["completion_tokens"] == 3
    assert float(response.headers["cf-ai-neurons"]) > 0


def test_the_curl_of_its_documentation(server: Server, alices: Program, fake: Fake) -> None:
    """The documented call declares no JSON, so curl sends it as a form."""
    curl = ["curl", "-s", f"{server.url}{RUN}/{MODEL}", "-X", "POST"]
    curl += ["-H", f"Authorization: Bearer {alices.key}", "-d", '{ "prompt": "Where is Hello World from" }']
    told = subprocess.run(curl, check=True, capture_output=True, text=True).stdout
    assert '"response": "You said: Where is Hello World from"' in told
    assert fake.calls[-1]["body"]["messages"] == [{"role": "user", "content": "Where is Hello World from"}]


def test_a_stream(alices: Program) -> None:
    with alices.stream(f"{RUN}/{MODEL}", {"prompt": "fake: words tokens=20 delay=0.05"}) as events:
        frames = list(events)
    assert events.done
    text = "".join(frame["response"] for frame in frames)
    assert text.split() == [f"word{number}" for number in range(1, 21)]
    assert all(set(frame) == {"response"} for frame in frames[:-1])
    assert len(frames) > 2
    assert frames[-1]["usage"]["completion_tokens"] == 20
    with alices.stream(f"{RUN}/{MODEL}", {"prompt": "fake: reasoning think=2 tokens=1 delay=0"}) as events:
        frames = list(events)
    thoughts = [frame for frame in frames if "reasoning_content" in frame]
    assert "".join(frame["reasoning_content"] for frame in thoughts) == "thought1 thought2 "
    deltas = [frame["choices"][0]["delta"] for frame in frames if "choices" in frame]
    assert deltas == [{"reasoning_content": frame["reasoning_content"]} for frame in thoughts]
    assert [frame["response"] for frame in thoughts] == [""] * len(thoughts)
    assert "".join(frame["response"] for frame in frames) == "word1"


def test_reasoning_stands_in_both_shapes_of_a_whole_answer(alices: Program) -> None:
    result = alices.run({"prompt": "fake: reasoning think=2 tokens=1 delay=0"}).json()["result"]
    assert (result["response"], result["reasoning_content"]) == ("word1", "thought1 thought2 ")
    assert (result["object"], result["model"]) == ("chat.completion", MODEL)
    message = {"role": "assistant", "content": "word1", "reasoning_content": "thought1 thought2 "}
    assert result["choices"] == [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]


def test_a_raw_prompt_reaches_the_model_as_it_stands(alices: Program, fake: Fake) -> None:
    prompt = "<|user|> Hello"
    response = alices.run({"prompt": prompt, "raw": True, "max_tokens": 5}, CLASSIC)
    assert response.json()["result"]["response"] == f"You said: {prompt}"
    assert fake.calls[-1]["body"] == {"prompt": prompt, "raw": True, "max_tokens": 5, "stream": True}


def test_an_adapter_is_applied(alices: Program, fake: Fake) -> None:
    response = alices.run({"prompt": "hello", "lora": "cf-public-magicoder"}, CLASSIC)
    assert response.status_code == 200
    assert fake.calls[-1]["path"].endswith(f"/ai/run/{CLASSIC}")
    assert fake.calls[-1]["body"]["lora"] == "cf-public-magicoder"


def test_the_model_may_stand_in_the_body(alices: Program) -> None:
    response = alices.client.post(f"{ACCOUNT}/run", json={"model": MODEL, "input": PROMPT})
    assert response.json()["result"]["response"] == "word1 word2 word3"
    assert alices.client.post(f"{ACCOUNT}/run", json={"model": MODEL}).json()["errors"][0]["code"] == 5006


def test_its_address_of_openais_api(alices: Program) -> None:
    response = alices.client.post(f"{ACCOUNT}/v1/chat/completions", json=question(PROMPT["prompt"]))
    assert response.json()["choices"][0]["message"]["content"] == "word1 word2 word3"


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
        ({"messages": [{"role": "user", "content": "x"}], "raw": True}, CLASSIC, 400, 5006),
        ({"prompt": "x", "functions": [{"name": "f"}]}, MODEL, 400, 5006),
        ({"prompt": "x", "lora": "nobody-made-it"}, CLASSIC, 400, 5006),
        ({"prompt": "x", "lora": "cf-public-magicoder"}, MODEL, 400, 5006),
        ({"text": ["an embedding"]}, "@cf/baai/bge-m3", 400, 5007),
        ({"prompt": "x" * 17_000_000}, MODEL, 413, 3006),
        ({"prompt": "x"}, "@cf/none/such", 400, 5007),
        ({"prompt": "x"}, "two%0Alines", 400, 5007),
        ({"prompt": "fake: status code=3036"}, MODEL, 429, 3036),
        ({"prompt": "fake: status code=2016"}, MODEL, 424, 2016),
        ({"prompt": "fake: status code=10000"}, MODEL, 502, 7009),
        # It names a smaller window, which is listed from then on: so not of the model that other tests read.
        ({"prompt": "fake: status code=5021", "stream": True}, CLASSIC, 413, 5021),
    ],
)
def test_refusals(alices: Program, body: Any, model: str, status: int, code: int) -> None:
    response = alices.run(body, model)
    told = response.json()
    assert (response.status_code, told["errors"][0]["code"]) == (status, code)
    assert (told["success"], told["result"], told["messages"]) == (False, None, [])
    assert told["errors"][0]["message"]


def test_mistral_needs_the_id_of_a_tool_result(alices: Program, fake: Fake) -> None:
    """Other classic models take a result without it, as in the documentation of Workers AI."""
    result = {"role": "tool", "name": "weather", "content": "sunny"}
    body = {"messages": [{"role": "user", "content": "fake: words tokens=1 delay=0"}, result]}
    assert alices.run(body, CLASSIC).status_code == 200
    calls = len(fake.calls)
    response = alices.run(body, "@cf/mistralai/mistral-small-3.1-24b-instruct")
    assert (response.status_code, len(fake.calls)) == (400, calls)
    assert "messages[1].tool_call_id" in response.json()["errors"][0]["message"]


def test_a_bad_key(server: Server, program: Callable[..., Program]) -> None:
    stranger = Program(server.url, "chat_wrong")
    for response in (stranger.run(PROMPT), stranger.client.get(f"{ACCOUNT}/models/search")):
        assert (response.status_code, response.json()["errors"][0]["code"]) == (401, 10000)
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
    for wrong in ({"page": "0"}, {"page": "x"}, {"per_page": "-1"}, {"hide_experimental": "?"}):
        assert alices.client.get(f"{ACCOUNT}/models/search", params=wrong).status_code == 400


@pytest.mark.parametrize(
    ("filters", "there"),
    [
        ({"task": "Text Generation"}, True),
        ({"task": "Text-to-Image"}, False),
        ({"author": "zai-org"}, True),
        ({"author": "meta"}, False),
        ({"source": "2"}, False),
        ({"hide_experimental": "true"}, True),
        ({"search": "GLM", "author": "zai-org", "task": "text generation"}, True),
    ],
)
def test_the_list_honours_its_filters(alices: Program, filters: dict[str, str], there: bool) -> None:
    told = alices.client.get(f"{ACCOUNT}/models/search", params={**filters, "per_page": 1000}).json()
    names = [model["name"] for model in told["result"]]
    assert (MODEL in names) is there
    assert told["result_info"]["total_count"] == len(names)
    if "author" in filters:
        assert all(name.startswith(f"@cf/{filters['author']}/") for name in names)
    if filters == {"hide_experimental": "true"}:
        assert not any(
            each["property_id"] == "beta" for model in told["result"] for each in model["properties"]
        )


def test_a_models_schema(alices: Program) -> None:
    told = alices.client.get(f"{ACCOUNT}/models/schema", params={"model": MODEL}).json()["result"]
    assert {"prompt", "messages", "temperature", "lora"} <= set(told["input"]["properties"])
    assert "response" in told["output"]["required"]
    assert "$ref" not in str(told)
    refused = alices.client.get(f"{ACCOUNT}/models/schema", params={"model": "@cf/baai/bge-m3"})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, 5007)
    unnamed = alices.client.get(f"{ACCOUNT}/models/schema").json()["errors"][0]
    assert (unnamed["code"], unnamed["message"]) == (5006, "“model” must be a string.")


def test_a_retired_models_name_finds_its_successor(alices: Program) -> None:
    gone = "@cf/meta/llama-2-7b-chat-int8"
    assert alices.client.get(f"{ACCOUNT}/models/schema", params={"model": gone}).status_code == 200
    found = alices.client.get(f"/v1/models/{gone}")
    assert (found.status_code, found.json()["id"]) == (200, MODEL)


def test_a_format_of_the_list_is_refused_by_name(alices: Program) -> None:
    refused = alices.client.get(f"{ACCOUNT}/models/search", params={"format": "openrouter"})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["message"] == "“format” is not supported."


def test_a_key_is_verified_like_a_token(
    server: Server, alices: Program, program: Callable[..., Program]
) -> None:
    for where in ("/client/v4/user/tokens/verify", "/client/v4/accounts/any/tokens/verify"):
        told = alices.client.get(where).json()
        assert (told["success"], told["result"]["status"]) == (True, "active")
        assert told["result"]["expires_on"].endswith("Z")
        assert "expires_on" not in program(days="never").client.get(where).json()["result"]
    stranger = Program(server.url, "chat_wrong")
    refused = stranger.client.get("/client/v4/user/tokens/verify")
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (401, 10000)
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    stranger.client.close()
