"""Tool calls, put together from the fragments of all servers, in pieces and whole."""

import json
from pathlib import Path
from typing import Any

import pytest

from chat.wire.tool_calls import MAX_CALLS, ToolCalls
from tests.wire.streams import Reply, body, chunk, ended, frames, message, read, read_both_ways

Fragment = dict[str, Any]
OSLO, CET = '{"city":"Oslo"}', '{"zone":"CET"}'


def part(name: object = None, arguments: object = None, **more: object) -> Fragment:
    return {"function": {"name": name, "arguments": arguments}, **more}


def call(id_: str, name: str, arguments: str, **more: object) -> Fragment:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


WEATHER, CLOCK = call("a", "weather", OSLO), call("b", "clock", CET)
SIGNED = {"extra_content": {"google": {"thought_signature": "SIG=="}}}


def streams() -> dict[str, tuple[list[Any], list[Fragment]]]:
    """Return (the lists of fragments, their calls) by title."""
    found = {}
    for block in Path(__file__).with_name("tool_calls.txt").read_text("utf-8").split("\n== ")[1:]:
        title, *lists, calls = block.strip().split("\n")
        found[title] = ([json.loads(each) for each in lists], json.loads(calls.removeprefix("-> ")))
    return found


STREAMS = streams()


@pytest.mark.parametrize(("lists", "calls"), STREAMS.values(), ids=STREAMS)
def test_calls_are_told_apart(lists: list[list[Fragment]], calls: list[Fragment]) -> None:
    assert read_both_ways(frames(*(chunk(tool_calls=each) for each in lists))).tool_calls == calls
    native = read_both_ways(
        frames(*({"tool_calls": each} for each in lists), {"finish_reason": "tool_calls"})
    )
    assert (native.tool_calls, native.finish_reason) == (calls, "tool_calls")


def test_calls_of_a_whole_message_are_whole() -> None:
    twins = [part("now", ""), part("now", ""), part("weather", OSLO, id="a", **SIGNED)]
    now = call("own", "now", "{}")
    assert read_both_ways(body(message(tool_calls=twins))).tool_calls == [now, now, WEATHER | SIGNED]


PIECES = [part("weather", OSLO[:4], index=0, id="a"), part(None, OSLO[4:], index=0)]
OTHERS_OSLO = json.dumps(json.loads(OSLO))


@pytest.mark.parametrize(
    ("pieces", "whole", "calls"),
    [
        (PIECES, [call("a", "weather", OTHERS_OSLO)], [WEATHER]),
        (PIECES, [call("a", "weather", OSLO)], [WEATHER]),
        (PIECES, [part("weather", OTHERS_OSLO)], [WEATHER]),
        (PIECES[:1], [WEATHER], [WEATHER]),
        (PIECES, [WEATHER, CLOCK], [WEATHER, CLOCK]),
        (PIECES, [call("b", "weather", OSLO)], [WEATHER]),
        (PIECES, [WEATHER, call("b", "weather", OSLO)], [WEATHER, call("b", "weather", OSLO)]),
    ],
)
@pytest.mark.parametrize("said", [None, " Hi you"])
def test_calls_sent_once_more_at_the_end_are_the_same(
    said: str | None, pieces: list[Fragment], whole: list[Fragment], calls: list[Fragment]
) -> None:
    closing = message("tool_calls", content=said and said.strip(), tool_calls=whole)
    stream = frames(chunk(said), *(chunk(tool_calls=[each]) for each in pieces), closing)
    reply = read_both_ways(stream)
    assert (reply.text, reply.tool_calls) == (said or "", calls)


def test_a_message_may_come_in_pieces() -> None:
    said = [
        {"content": "ab"},
        {"content": "cd"},
        {"content": "efgh"},
        *({"tool_calls": [each]} for each in PIECES),
    ]
    stream = frames(*({"choices": [{"index": 0, "message": each}]} for each in said), ended("tool_calls"))
    assert read_both_ways(stream) == Reply("abcdefgh", finish_reason="tool_calls", tool_calls=[WEATHER])


@pytest.mark.parametrize("reason", ["function_call", "stop"])
def test_the_old_field_is_a_call(reason: str) -> None:
    pieces = [{"name": "weather", "arguments": '{"city":'}, {"arguments": '"Oslo"}'}]
    streamed = read_both_ways(frames(*(chunk(function_call=each) for each in pieces)))
    whole = read_both_ways(body(message(reason, function_call={"name": "weather", "arguments": OSLO})))
    assert streamed.tool_calls == whole.tool_calls == [call("own", "weather", OSLO)]
    both = chunk(
        tool_calls=[part("weather", OSLO, id="a")], function_call={"name": "weather", "arguments": OSLO}
    )
    assert read_both_ways(frames(both)).tool_calls == [WEATHER]
    closing = message(reason, function_call={"name": "weather", "arguments": OTHERS_OSLO})
    repeated = read_both_ways(frames(*(chunk(function_call=each) for each in pieces), closing))
    assert repeated.tool_calls == streamed.tool_calls


def test_pieces_are_passed_on_as_they_come() -> None:
    calls = ToolCalls()
    fragments = STREAMS["as OpenAI"][0]
    assert [calls.add(each) for each in fragments[:3]] == [
        [],  # the name may go on
        [{"index": 0, **call("a", "weather", '{"city":')}],
        [{"index": 0, "function": {"arguments": '"Oslo"}'}}],
    ]
    assert calls.flush() == []


def test_a_reply_has_only_so_many_calls() -> None:
    calls = ToolCalls()
    for number in range(20_000):
        calls.add([part("w", "{", index=str(number), id=f"c{number}"), part(None, "}", index=str(number))])
    assert calls.as_list() == [call(f"c{number}", "w", "{}") for number in range(MAX_CALLS)]


def test_long_arguments_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the characters that are looked at; the name in each fragment asks for the end of the last."""
    calls, size = ToolCalls(), 0
    calls.add([part("f", '{"a": "', index=0, id="a")])
    (made,) = calls._calls
    scan = made._scan

    def counted() -> None:
        nonlocal size
        size += sum(map(len, made._parts[made._scanned :]))
        scan()

    monkeypatch.setattr(made, "_scan", counted)
    for _ in range(2_000):
        calls.add([part("f", "x" * 50, index=0, id="a")])
    assert size <= sum(map(len, made._parts))


def test_arguments_without_end_are_cut() -> None:
    endless = [chunk(tool_calls=[part(None, "x" * 50_000, index=0)])] * 21
    reply = read(frames(chunk(tool_calls=[part("f", '{"a": "', index=0, id="a")]), *endless))
    assert len(json.dumps(reply.tool_calls)) < 1_100_000
    assert reply.finish_reason == "length"


def test_a_copy_in_the_last_delta_is_no_further_call():
    pieces = [
        call("a", "weather", OSLO[:5]),
        part(None, OSLO[5:]),
        call("a", "weather", OSLO.replace(":", " : ")),
    ]
    stream = frames(*(chunk(tool_calls=[{**each, "index": 0}]) for each in pieces), ended("tool_calls"))
    assert len(read_both_ways(stream).tool_calls) == 1


def test_tokens_of_the_template_are_no_call():
    pieces = [part("weather", OSLO[:5]), part("weather", OSLO[5:]), part("weather", "<|eot_id|>")]
    stream = frames(*(chunk(tool_calls=[{**each, "index": 0}]) for each in pieces), ended("tool_calls"))
    (found,) = read_both_ways(stream).tool_calls
    assert found["function"]["arguments"] == OSLO
