"""Replies that model servers really send, through both dialects of the API and on the page."""

import json
from typing import Any

import pytest

from tests.api.client import CHAT, MODEL, RUN, Program, question
from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.text_scenarios import body_line
from tests.support.server import Server
from tests.wire.streams import body, chunk, ended, frames, message

SIGNED = {"extra_content": {"google": {"thought_signature": "SIG=="}}}
CALLS = [
    {"index": 0, "id": "a", "function": {"name": "weather", "arguments": '{"city":'}, **SIGNED},
    {"index": 0, "function": {"arguments": '"Oslo"}'}},
    {"index": 0, "id": "b", "function": {"name": "now", "arguments": ""}},
]
WHOLE_CALLS = [
    {
        "id": "a",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city":"Oslo"}'},
        **SIGNED,
    },
    {"id": "b", "type": "function", "function": {"name": "now", "arguments": "{}"}},
]
TOOLS = frames(*(chunk(tool_calls=[each]) for each in CALLS), ended("tool_calls"))


def replied(program: Program, stream: bytes, **options: Any) -> dict[str, Any]:
    response = program.chat(body_line(stream, **options))
    assert response.status_code == 200, response.text
    choice: dict[str, Any] = response.json()["choices"][0]
    return choice


def test_tool_calls_come_in_pieces_and_whole(alices: Program) -> None:
    with alices.stream(CHAT, question(body_line(TOOLS))) as events:
        first, *chunks = [each["choices"][0] for each in events]
    assert first["delta"] == {"role": "assistant", "content": None}
    assert [each["delta"]["tool_calls"][0]["index"] for each in chunks[:-1]] == [0, 0, 1]
    assert chunks[0]["delta"]["tool_calls"][0]["extra_content"] == SIGNED["extra_content"]
    assert chunks[-1]["finish_reason"] == "tool_calls"
    choice = replied(alices, TOOLS)
    assert (choice["message"]["tool_calls"], choice["message"]["content"]) == (WHOLE_CALLS, None)


def test_workers_ais_own_shape_has_the_calls_whole(alices: Program) -> None:
    flat = [
        {"id": "a", "name": "weather", "arguments": {"city": "Oslo"}, **SIGNED},
        {"id": "b", "name": "now", "arguments": {}},
    ]
    with alices.stream(f"{RUN}/{MODEL}", {"prompt": body_line(TOOLS)}) as events:
        *_, called, last = events
    assert called["tool_calls"] == flat
    assert "usage" not in last  # nobody counted, and LangChain's client fails on null
    assert alices.run({"prompt": body_line(TOOLS)}).json()["result"]["tool_calls"] == flat


def test_calls_of_custom_tools_keep_their_shape(alices: Program) -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": 'echo "{'}}
    stream = frames(chunk(tool_calls=[{"index": 0, **call}]), ended("tool_calls"))
    assert replied(alices, stream)["message"]["tool_calls"] == [call]
    assert alices.run({"prompt": body_line(stream)}).json()["result"]["tool_calls"] == [call]


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (frames(chunk(tool_calls=CALLS[:1]), ended("length")), "length"),
        (frames(chunk(tool_calls=CALLS[:1]), ended("stop")), "length"),
        (frames(chunk(tool_calls=CALLS[:1]), ended("content_filter")), "content_filter"),
        (frames(chunk(tool_calls=CALLS[:2]), ended("safety")), "content_filter"),
        (frames(chunk(tool_calls=CALLS[:2]), ended("stop")), "tool_calls"),
        (body(message("content_filter", tool_calls=WHOLE_CALLS)), "content_filter"),
        (frames(chunk("Hi"), ended("tool_use")), "stop"),
        (frames(chunk("Hi"), ended("function_call")), "stop"),
        (frames(chunk("Hi"), ended("SAFETY")), "content_filter"),
        (frames(chunk("Hi"), ended("eos_token")), "stop"),
        (frames(chunk("Hi"), ended("unheard_of")), "stop"),
    ],
)
def test_only_openais_reasons_leave_the_api(alices: Program, stream: bytes, reason: str) -> None:
    assert replied(alices, stream)["finish_reason"] == reason


def test_a_refusal_is_one(alices: Program) -> None:
    stream = frames(chunk(None, refusal="I "), chunk(None, refusal="can’t."), ended("stop"))
    assert replied(alices, stream)["message"] == {"role": "assistant", "content": None, "refusal": "I can’t."}
    with alices.stream(CHAT, question(body_line(stream))) as events:
        deltas = [each["choices"][0]["delta"] for each in events]
    assert "".join(delta.get("refusal", "") for delta in deltas) == "I can’t."
    assert not any(delta.get("content") for delta in deltas)
    assert alices.run({"prompt": body_line(stream)}).json()["result"]["response"] == "I can’t."


def test_sources_are_passed_on(alices: Program) -> None:
    annotation = {"type": "url_citation", "url_citation": {"url": "https://example.org/a", "title": "A"}}
    stream = frames(
        chunk("A [1]", annotations=[annotation]), {**ended("stop"), "citations": ["https://example.org/a"]}
    )
    whole = alices.chat(body_line(stream)).json()
    assert whole["choices"][0]["message"]["annotations"] == [annotation]
    assert whole["citations"] == ["https://example.org/a"]
    with alices.stream(CHAT, question(body_line(stream))) as events:
        chunks = list(events)
    assert [each["citations"] for each in chunks if "citations" in each] == [whole["citations"]]
    assert [annotation] in [each["choices"][0]["delta"].get("annotations") for each in chunks]


@pytest.mark.parametrize("label", ["text/event-stream", "application/json", "text/plain", "text/html"])
@pytest.mark.parametrize(
    "stream",
    [
        frames(chunk("Hi"), ended("stop")),
        body(message(content="Hi")),
        body(chunk("Hi")) + b"\n" + body(ended("stop")),
    ],
)
def test_the_first_bytes_decide_whatever_the_label(alices: Program, stream: bytes, label: str) -> None:
    assert replied(alices, stream, label=label)["message"]["content"] == "Hi"


@pytest.mark.parametrize("label", ["text/event-stream", "application/json"])
@pytest.mark.parametrize("form", [b"%b", b"data: %b\n\n", b"event: error\ndata: %b\n\n", b"error: %b\n\n"])
@pytest.mark.parametrize("streamed", [True, False])
def test_an_error_before_the_first_frame_has_its_status(
    alices: Program, fake: Fake, form: bytes, label: str, streamed: bool
) -> None:
    fake.clear()
    error = {"error": {"message": "Incorrect input", "type": "invalid_request_error", "code": 400}}
    response = alices.chat(body_line(form % body(error), label=label), stream=streamed)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")
    assert len(fake.calls) == 1


@pytest.mark.parametrize(
    ("reason", "status", "code"),
    [
        ("error", 503, "upstream_unavailable"),
        ("insufficient_system_resource", 429, "model_busy"),
        ("abort", 502, "interrupted"),
    ],
)
def test_a_failed_reply_is_an_error(alices: Program, reason: str, status: int, code: str) -> None:
    stream = frames(chunk("Hi"), ended(reason))
    response = alices.chat(body_line(stream))
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    with alices.stream(CHAT, question(body_line(stream))) as events:
        *_, said, error = events
    assert said["choices"][0]["delta"] == {"content": "Hi"}
    assert error["error"]["code"] == code
    assert not events.done


def test_usage_has_its_details(alices: Program) -> None:
    counts = {
        "prompt_tokens": 5,
        "completion_tokens": 90,
        "completion_tokens_details": {"reasoning_tokens": 80},
    }
    stream = frames(chunk("a"), ended("stop"), {"choices": [], "usage": counts})
    usage = alices.chat(body_line(stream)).json()["usage"]
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 80}


def test_the_page_shows_text_reasoning_and_sources(server: Server) -> None:
    alice = server.person("alice")
    stream = frames(
        chunk("<think>\nLet me see.\n</think>\n\nHello"),
        chunk([{"type": "text", "text": " you"}]),
        chunk(None, refusal=", but no."),
        {**ended("stop"), "search_results": [{"url": "https://example.org/a", "title": "A page"}]},
    )
    response = alice.post("/c/", {"content": body_line(stream)})
    done = json.loads(response.text.partition("event: done\n")[2].partition("data: ")[2].partition("\n")[0])
    assert (done["status"], done["citations"]) == ("complete", 1)
    page = alice.get(f"/c/{response.headers['X-Conversation-Id']}/").text
    assert "Hello you, but no." in page
    assert "Let me see." in page
    assert 'href="https://example.org/a"' in page
    assert "A page" in page
