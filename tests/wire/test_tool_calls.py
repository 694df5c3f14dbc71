"""Tool calls, put together from the fragments of all servers, in pieces and whole."""

import json
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
LS = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": 'echo "{"\n'}}
STREAMS: dict[str, tuple[list[list[Fragment]], list[Fragment]]] = {
    "as OpenAI": (
        [
            [part("weather", "", index=0, id="a", type="function")],
            [part(None, '{"city":', index=0)],
            [part(None, '"Oslo"}', index=0)],
            [part("clock", "", index=1, id="b", type="function")],
            [part(None, CET, index=1)],
        ],
        [WEATHER, CLOCK],
    ),
    "of custom tools": (
        [
            [{"index": 0, "id": "c", "type": "custom", "custom": {"name": "shell", "input": ""}}],
            [{"index": 0, "custom": {"input": 'echo "'}}],
            [{"index": 0, "custom": {"input": '{"\n'}}],
            [part("clock", CET, index=1, id="b", type="function")],
        ],
        [LS, CLOCK],
    ),
    "of a custom tool, whole and without a text": (
        [[LS, {"id": "d", "type": "custom", "custom": {"name": "shell", "input": ""}}]],
        [LS, {"id": "d", "type": "custom", "custom": {"name": "shell", "input": ""}}],
    ),
    "interleaved": (
        [
            [part("weather", '{"city":', index=0, id="a"), part("clock", "", index=1, id="b")],
            [part(None, CET, index=1), part(None, '"Oslo"}', index=0)],
        ],
        [WEATHER, CLOCK],
    ),
    "indexes from 1, and backwards": (
        [[part("weather", OSLO, index=2, id="a")], [part("clock", CET, index=1, id="b")]],
        [WEATHER, CLOCK],
    ),
    "all of index 0": (
        [[part("weather", OSLO, index=0, id="a")], [part("clock", CET, index=0, id="b")]],
        [WEATHER, CLOCK],
    ),
    "all of index 0 in one frame": (
        [[part("weather", OSLO, index=0, id="a"), part("clock", CET, index=0, id="b")]],
        [WEATHER, CLOCK],
    ),
    "all of index 0, without ids": (
        [[part("weather", OSLO, index=0)], [part("clock", CET, index=0)], [part("clock", CET, index=0)]],
        [call("own", "weather", OSLO), call("own", "clock", CET), call("own", "clock", CET)],
    ),
    "all of index 0, in pieces": (
        [
            [part("weather", '{"city":', index=0, id="a")],
            [part(None, '"Oslo"}', index=0)],
            [part("clock", '{"zone":', index=0, id="b")],
            [part(None, '"CET"}', index=0)],
        ],
        [WEATHER, CLOCK],
    ),
    "all of index 0, without parameters": (
        [[part("now", "", index=0, id="a")], [part("now", "", index=0, id="b")], [part("day", "{}", index=0)],
         [part("hour", "{}", index=0)], [part("hour", "{}", index=0)]],
        [call("a", "now", "{}"), call("b", "nowday", "{}"), *2 * [call("own", "hour", "{}")]],
    ),
    "index as text": (
        [[part("weather", '{"city":', index="0", id="a")], [part(None, '"Oslo"}', index="0")]],
        [WEATHER],
    ),
    "no index": (
        [[part("weather", '{"city":', id="a")], [part(None, '"Oslo"}')], [part("clock", CET, id="b")]],
        [WEATHER, CLOCK],
    ),
    "no index, the id repeated": (
        [[part("weather", '{"city":', id="a")], [part(None, '"Oslo"}', id="a")]],
        [WEATHER],
    ),
    "no index, id and name repeated": (
        [[part("weather", '{"city":', id="a")], [part("weather", '"Oslo"}', id="a")]],
        [WEATHER],
    ),
    "no index, told apart by id": (
        [
            [part("weather", '{"city":', id="a")],
            [part("clock", '{"zone":', id="b")],
            [part(None, '"Oslo"}', id="a")],
            [part(None, '"CET"}', id="b")],
        ],
        [WEATHER, CLOCK],
    ),
    "neither index nor id": (
        [[part("weather", '{"city":')], [part("", '"Oslo"}')], [part("clock", CET)], [part("clock", CET)]],
        [call("own", "weather", OSLO), call("own", "clock", CET), call("own", "clock", CET)],
    ),
    "the name repeated": (
        [[part("weather", '{"city":', index=0, id="a")], [part("weather", '"Oslo"}', index=0, id="")]],
        [WEATHER],
    ),
    "an id for each fragment": (
        [[part("weather", '{"city":', index=0, id="a")], [part("weather", '"Oslo"}', index=0, id="x")]],
        [WEATHER],
    ),
    "an index for each fragment": (
        [[part("weather", '{"city":', index=0, id="a")], [part(None, '"Oslo"}', index=1)]],
        [WEATHER],
    ),
    "the id before the name": (
        [[part(None, None, index=0, id="a")], [part("weather", None, index=0)], [part(None, OSLO, index=0)]],
        [WEATHER],
    ),
    "the whole call once more": (
        [[part("weather", '{"city":', index=0, id="a")], [part(None, '"Oslo"}', index=0)],
         [part("weather", OSLO, index=0, id="a")]],
        [WEATHER],
    ),
    "one id for two calls": (
        [[part("edit", '{"n":1}', index=0, id="a"), part("edit", '{"n":2}', index=1, id="a")]],
        [call("a", "edit", '{"n":1}'), call("own", "edit", '{"n":2}')],
    ),
    "one id for two calls, without index": (
        [[part("edit", '{"n":1}', id="a")], [part("edit", '{"n":2}', id="a")]],
        [call("a", "edit", '{"n":1}'), call("own", "edit", '{"n":2}')],
    ),
    "one id and one index for two calls": (
        [[part("edit", '{"n":1}', index=0, id="a")], [part("edit", '{"n":2}', index=0, id="a")]],
        [call("a", "edit", '{"n":1}'), call("own", "edit", '{"n":2}')],
    ),
    "braces and quotes in a text": (
        [
            [part("f", '{"a": "}\\', index=0)],
            [part("f", '"{', index=0)],
            [part("f", '"}', index=0)],
            [part("f", "{}", index=0)],
        ],
        [call("own", "f", '{"a": "}\\"{"}'), call("own", "f", "{}")],
    ),
    "two without arguments": (
        [[part("f", "", index=0)], [part("g", "", index=1, id="b"), part("h", "{}", index=2, id="c")]],
        [call("own", "f", "{}"), call("b", "g", "{}"), call("c", "h", "{}")],
    ),
    "the arguments once more at the end": (
        [[part("weather", OSLO[:5], index=0, id="a")], [part(None, OSLO[5:], index=0)],
         [part(None, OSLO, index=0)]],
        [WEATHER],
    ),
    "backwards in one frame": (
        [[part("f", "", index=0, id="a"), part("g", "", index=1, id="b")],
         [part(None, "[1]", index=1), part(None, "[0]", index=0)]],
        [call("a", "f", "[0]"), call("b", "g", "[1]")],
    ),
    "arguments before the name": (
        [
            [part(None, '{"city":', index=0, id="a"), part(None, '{"zone":', index=1, id="b")],
            [part("weather", '"Oslo"}', index=0)],
            [part("clock", '"CET"}', index=1, id="b")],
        ],
        [WEATHER, CLOCK],
    ),
    "arguments of a call that never gets a name": (
        [[part(None, OSLO, index=0, id="a")], [part("clock", CET, index=1, id="b")]],
        [CLOCK],
    ),
    "arguments as an object": ([[part("f", {"a": "é"}, index=0, id="a")]], [call("a", "f", '{"a": "é"}')]),
    "the flat shape": (
        [[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "parameters": {}}]],
        [call("own", "f", '{"a": 1}'), call("own", "g", "{}")],
    ),
    "no arguments at all": ([[{"function": {"name": "f"}, "id": "a"}]], [call("a", "f", "{}")]),
    "arguments of null": ([[part("f", None, index=0, id="a")]], [call("a", "f", "{}")]),
    "empty elements": (
        [[None, {}, part("f", "{}", index=0, id="a"), part(), part(None, "", id=None, type=None)]],
        [call("a", "f", "{}")],
    ),
    "what the server wants back": (
        [[part("weather", OSLO, index=0, id="a", **SIGNED)], [part("clock", CET, index=1, id="b", x="y")]],
        [WEATHER | SIGNED, CLOCK | {"x": "y"}],
    ),
    "fields of the function": (
        [[{"id": "a", "function": {"name": "f", "arguments": "{}", "signature": "S"}}]],
        [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}", "signature": "S"}}],
    ),
    "the name in pieces": (
        [[part("wea", "", index=0, id="a")], [part("ther", "", index=0)], [part(None, OSLO, index=0)]],
        [WEATHER],
    ),
    "the name in pieces, with the id": (
        [[part("wea", "", index=0, id="a")], [part("ther", "", index=0, id="a")],
         [part(None, OSLO, index=0, id="a")]],
        [WEATHER],
    ),
    "a name that grows": (
        [[part("wea", "", index=0, id="a")], [part("weather", "", index=0)], [part(None, OSLO, index=0)]],
        [WEATHER],
    ),
    "an empty object before the arguments": (
        [[part("weather", {}, index=0, id="a")], [part(None, '{"ci', index=0)],
         [part(None, 'ty":"Oslo"}', index=0)], [part("clock", "{}", index=1, id="b")],
         [part(None, CET, index=1)]],
        [WEATHER, CLOCK],
    ),
    "an empty object behind the arguments": (
        [[part("weather", OSLO, index=0, id="a")], [part(None, {}, index=0)]],
        [WEATHER],
    ),
    "an empty object within the arguments": (
        [[part("f", '{"a":', index=0, id="a")], [part(None, {}, index=0)], [part(None, "}", index=0)]],
        [call("a", "f", '{"a":{}}')],
    ),
    "null as text": ([[part("f", "null", index=0, id="a")]], [call("a", "f", "{}")]),
    "no list": ([{"id": "a", "function": {"name": "f", "arguments": "{}"}}], [call("a", "f", "{}")]),  # type: ignore[list-item]
    "a signature at the end": (
        [[part("weather", OSLO, index=0, id="a")], [part(None, "", index=0, **SIGNED)]],
        [WEATHER | SIGNED],
    ),
    "a character cut in two": (
        [[part("f", '{"a":"\ud83d', index=0, id="a")], [part(None, '\ude00"}', index=0)]],
        [call("a", "f", '{"a":"😀"}')],
    ),
}  # fmt: skip


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
