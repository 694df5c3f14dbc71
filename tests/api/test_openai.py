"""OpenAI's chat API: whole responses, streams, tools, and errors in its shape."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.api.client import CHAT, MODEL, Program, question
from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.databases import Database
from tests.support.server import Server

LONG_READER = "@cf/zai-org/glm-5.3-flash"  # its window has a million tokens
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def last_request_body(fake: Fake) -> dict[str, Any]:
    body = fake.calls[-1]["body"]
    assert isinstance(body, dict)
    return body


def test_a_whole_answer(alices: Program) -> None:
    response = alices.chat("fake: words tokens=3 delay=0")
    assert response.status_code == 200
    assert "Set-Cookie" not in response.headers
    assert "Access-Control-Allow-Origin" not in response.headers
    body = response.json()
    assert (body["object"], body["model"]) == ("chat.completion", MODEL)
    assert body["id"].startswith("chatcmpl-")
    assert body["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "word1 word2 word3"},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    usage = body["usage"]
    assert usage["completion_tokens"] == 3
    assert usage["total_tokens"] == usage["prompt_tokens"] + 3
    assert usage["neurons"] > 0


@pytest.mark.parametrize("usage", [True, False])
def test_a_stream(alices: Program, usage: bool) -> None:
    options = {"stream_options": {"include_usage": True}} if usage else {}
    with alices.stream(CHAT, question("fake: words tokens=20 delay=0.05", **options)) as events:
        chunks = list(events)
    assert events.response.headers["Content-Type"] == "text/event-stream"
    assert events.done
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1
    last = chunks.pop() if usage else {"choices": [], "usage": {"completion_tokens": 20}}
    assert (last["choices"], last["usage"]["completion_tokens"]) == ([], 20)
    assert all(chunk.get("usage", "absent") == (None if usage else "absent") for chunk in chunks)
    choices = [chunk["choices"][0] for chunk in chunks]
    assert choices[0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(choice["delta"].get("content", "") for choice in choices).split() == [
        f"word{number}" for number in range(1, 21)
    ]
    assert [choice["finish_reason"] for choice in choices if choice["finish_reason"]] == ["stop"]
    assert choices[-1]["delta"] == {}
    assert len(choices) > 3, "the tokens came one by one, and went on so"


def test_every_character_arrives(alices: Program) -> None:
    """Send also the characters at which careless readers split lines."""
    reply_text = 'quote " back \\ line\u2028 \u0085 emoji 😀 <b> & \t end'
    with alices.stream(CHAT, question(says_line(reply_text, size=3, delay=0.001))) as events:
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in events)
    assert text == reply_text
    assert alices.chat(says_line(reply_text)).json()["choices"][0]["message"]["content"] == reply_text


def test_reasoning_is_told_apart(alices: Program) -> None:
    with alices.stream(CHAT, question("fake: reasoning think=3 tokens=2 delay=0.05")) as events:
        deltas = [chunk["choices"][0]["delta"] for chunk in events]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "thought1 thought2 thought3 "
    assert "".join(delta.get("content", "") for delta in deltas) == "word1 word2"
    message = alices.chat("fake: reasoning think=3 tokens=2 delay=0").json()["choices"][0]["message"]
    assert message["reasoning_content"] == "thought1 thought2 thought3 "
    assert message["content"] == "word1 word2"


def test_tools_go_to_the_model(alices: Program, fake: Fake) -> None:
    wanted = {"tools": [WEATHER], "tool_choice": "any", "parallel_tool_calls": False}
    assert alices.chat("fake: tools delay=0", **wanted).status_code == 200
    assert wanted | {"tool_choice": "required"} == {name: last_request_body(fake)[name] for name in wanted}


def test_all_roles_reach_the_model_as_text(alices: Program, fake: Fake) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    messages = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "How is "}, {"type": "text", "text": "it?"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "sunny"},
        {"role": "user", "content": "fake: words tokens=1 delay=0", "name": "alice"},
    ]
    response = alices.client.post(CHAT, json={"model": MODEL, "messages": messages})
    assert response.status_code == 200
    assert last_request_body(fake)["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How is it?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "sunny", "tool_call_id": "1"},
        {"role": "user", "content": "fake: words tokens=1 delay=0"},
    ]


def test_known_parameters_pass_and_hints_are_left_out(alices: Program, fake: Fake) -> None:
    passed = {
        "temperature": 0.5,
        "top_p": 1,
        "seed": 7,
        "frequency_penalty": -1.5,
        "presence_penalty": 2,
        "stop": ["\n", "end"],
        "reasoning_effort": "low",
        "chat_template_kwargs": {"enable_thinking": False},
    }
    ignored = {"user": "u", "n": 1, "raw": False, "lora": None, "function_call": "auto"}
    assert alices.chat("fake: words tokens=1 delay=0", max_tokens=99, **passed, **ignored).status_code == 200
    body = last_request_body(fake)
    assert body == passed | {"messages": body["messages"], "max_tokens": 99, "stream": True}
    assert alices.chat("hello", temperature=None, tools=None, max_completion_tokens=5).status_code == 200
    assert set(last_request_body(fake)) == {"messages", "max_tokens", "stream"}
    assert last_request_body(fake)["max_tokens"] == 5


def test_a_busy_model_rejects_at_once_where_the_call_says_so(alices: Program, fake: Fake) -> None:
    """Expect one attempt: a caller that rejects queueing gets no retry either."""
    fake.clear()
    refused = alices.chat("fake: status code=3040", options={"rejectIfBusy": True})
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "model_busy")
    [call] = fake.calls
    assert call["body"]["options"] == {"rejectIfBusy": True}
    assert alices.chat("hello", options={"rejectIfBusy": False}).status_code == 200
    assert "options" not in last_request_body(fake)


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": [{"role": "user", "content": " "}]},
        {"messages": [{"role": [], "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]},
        {"messages": [{"role": "user", "content": "x"}] * 2001},
        {"prompt": "both"},
        {"model": None},
        {"model": 7},
        {"response_format": {"type": "json_schema", "json_schema": "City"}},
        {"tool_choice": {"type": "function", "function": {"name": "weather"}}},
        {"options": {"rejectIfBusy": "yes"}},
        {"stream_options": []},
        {"lora": 7},
        {"lora": "nobody-made-it"},
        {"raw": True},
        {"raw": "yes"},
        {"messages": [{"role": "assistant", "content": "x", "reasoning_content": 7}]},
        {"messages": [{"role": "tool", "content": "sunny"}]},
    ],
)
def test_invalid_requests_are_refused(alices: Program, fake: Fake, database: Database, wrong: Any) -> None:
    calls, rows = len(fake.calls), database.value("SELECT COUNT(*) FROM chat_call")
    response = alices.client.post(CHAT, json={**question("hello"), **wrong})
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["type"], error["code"] != "malformed") == ("invalid_request_error", True)
    assert error["param"].partition(".")[0].partition("[")[0] in {*wrong, "messages"}
    assert "“" in error["message"]
    assert (len(fake.calls), database.value("SELECT COUNT(*) FROM chat_call")) == (calls, rows)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"temperature": NaN}', b"[" * 100_000, b"\xff", b'"x"'])
def test_a_body_that_is_no_json_is_refused(alices: Program, body: bytes) -> None:
    assert alices.client.post(CHAT, content=body).status_code == 400


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", "1" * 309),
        ("temperature", "1" * 4_300),
        ("max_tokens", "9" * 5_000),
        ("seed", "1e400"),
        ("model", '"\\ud800"'),
        ("user", '{"a": ["\\udc00"]}'),
        ("tools", '[{"type": "function", "function": {"name": "x", "parameters": {"maximum": 1e400}}}]'),
        ("logit_bias", '{"1": -1e999}'),
        ("tools", '[{"type": "function", "function": {"name": "\\ud83d"}}]'),
    ],
)
def test_unencodable_text_is_refused(alices: Program, fake: Fake, field: str, value: str) -> None:
    calls = len(fake.calls)
    sent = json.dumps({**question("hello"), field: "here"}).replace('"here"', value)
    response = alices.client.post(CHAT, content=sent)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "malformed")
    assert len(fake.calls) == calls


@pytest.mark.parametrize(
    "wrong",
    [
        {"function": "weather"},
        {"function": []},
        {"function": {"name": 7}},
        {"function": {"name": "weather", "arguments": 7}},
        {"id": "1"},
    ],
)
@pytest.mark.parametrize("keep", ["usage", "conversations"])
def test_a_call_of_a_tool_has_a_name(program: Callable[..., Program], keep: str, wrong: Any) -> None:
    messages = [{"role": "user", "content": "How is it?"}, {"role": "assistant", "tool_calls": [wrong]}]
    response = program(keep=keep).client.post(CHAT, json={"model": MODEL, "messages": messages})
    error = response.json()["error"]
    assert (response.status_code, error["param"].startswith("messages[1].tool_calls[0]")) == (400, True)


def test_deep_nesting_is_refused(alices: Program) -> None:
    deep: Any = {}
    for _ in range(200):
        deep = {"a": deep}
    assert alices.chat("hello", chat_template_kwargs=deep).status_code == 400


def test_the_body_may_be_large(alices: Program) -> None:
    messages = [{"role": "user", "content": "word " * 250_000}, *question("fake: words tokens=1")["messages"]]
    sent = json.dumps({"model": LONG_READER, "messages": messages}).encode()
    for address in (CHAT, f"/client/v4/accounts/any/ai{CHAT}"):
        for content in (sent, iter([sent])):  # the second one says no length beforehand
            response = alices.client.post(address, content=content)
            assert response.status_code == 200, response.text
    assert alices.chat("x" * 17_000_000).status_code == 413


def test_a_model_that_is_not_here(alices: Program) -> None:
    for name in ("gpt-4o", "../../zones", "@cf/x?y="):
        response = alices.client.post(CHAT, json={**question("hello"), "model": name})
        assert (response.status_code, response.json()["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer chat_wrong", "Basic eDp5", "Bearer \xff"])
def test_without_a_good_key_nothing_is_told(server: Server, authorization: str) -> None:
    headers = {"Authorization": authorization.encode("latin-1")} if authorization else {}
    person = server.person("alice")  # her session is worth nothing here
    for response in (
        person.client.post(CHAT, json=question("hello"), headers=headers),
        person.client.post(CHAT, content=b"{", headers=headers),
        person.client.get("/v1/models", headers=headers),
    ):
        assert response.status_code == 401
        assert response.json()["error"]["code"] == "invalid_api_key"


@pytest.mark.parametrize(
    ("code", "status", "told"),
    [
        (10000, 502, "upstream_unavailable"),
        (3036, 429, "insufficient_quota"),
        (5035, 403, "model_not_permitted"),
        (5021, 400, "context_length_exceeded"),
        (5006, 400, "invalid_request"),
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
def test_refusals_of_the_model_server(
    alices: Program, code: int, status: int, told: str, streamed: bool
) -> None:
    response = alices.chat(f"fake: status code={code}", stream=streamed)
    assert (response.status_code, response.json()["error"]["code"]) == (status, told)
    assert response.headers.get("x-should-retry") == "false"
    assert ("Retry-After" in response.headers) == (code == 3036)


def test_the_models_are_listed(alices: Program, program: Callable[..., Program]) -> None:
    found = alices.client.get("/v1/models").json()
    assert found["object"] == "list"
    listed = {model["id"]: model for model in found["data"]}
    assert listed[MODEL] == {"id": MODEL, "object": "model", "created": 0, "owned_by": "zai-org"}
    assert alices.client.get(f"/v1/models/{MODEL}").json() == listed[MODEL]
    for name in ("gpt-4o", "a/b", "two%0Alines"):
        response = alices.client.get(f"/v1/models/{name}")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "model_not_found")


def test_a_retired_model_is_answered_by_its_successor(
    alices: Program, fake: Fake, database: Database
) -> None:
    old, new = "@cf/meta/llama-2-7b-chat-int8", MODEL
    body = {**question("fake: words tokens=1 delay=0"), "model": old}
    response = alices.client.post(CHAT, json=body)
    assert (response.status_code, response.json()["model"]) == (200, new)
    assert response.headers["X-Requested-Model"] == old
    assert fake.calls[-1]["path"].endswith(f"/ai/run/{new}")
    assert database.value("SELECT model FROM chat_call ORDER BY created DESC LIMIT 1") == new
    with alices.stream(CHAT, body) as events:
        assert {chunk["model"] for chunk in events} == {new}
        assert events.response.headers["X-Requested-Model"] == old
    response = alices.run({"prompt": "hello"}, old)
    assert (response.json()["result"]["model"], response.headers["X-Requested-Model"]) == (new, old)
    assert "X-Requested-Model" not in alices.chat("hello").headers


def test_a_key_opens_only_what_it_is_for(program: Callable[..., Program]) -> None:
    lists, runs = program(run=False), program(list=False)
    assert (lists.client.get("/v1/models").status_code, lists.chat("hello").status_code) == (200, 403)
    assert (runs.client.get("/v1/models").status_code, runs.chat("hello").status_code) == (403, 200)
