"""Tool calls, put together from fragments."""

from chat.wire.frames import FrameReader
from tests.wire.streams import chunk, frames, read


class TestToolCalls:
    def test_of_two_functions_are_kept_apart(self):
        def part(index, **function):
            return chunk(tool_calls=[{"index": index, "function": function}])

        reply = read(
            frames(part(1, name="b", arguments=""), part(0, name="a", arguments="{"), part(1, arguments="[]"),
                   part(0, arguments="}"))
        )  # fmt: skip
        assert [call["function"] for call in reply.tool_calls] == [
            {"name": "a", "arguments": "{}"},
            {"name": "b", "arguments": "[]"},
        ]

    def test_tool_calls_without_index_and_with_top_level_reason(self):
        call = {"id": "call123", "type": "function", "function": {"name": "weather", "arguments": '{"at":'}}
        rest = {"id": None, "type": None, "function": {"name": None, "arguments": '"x"}'}}
        reply = read(
            frames({"tool_calls": [call]}, {"tool_calls": [rest, None]}, {"finish_reason": "tool_calls"})
        )
        assert reply.finish_reason == "tool_calls"
        assert reply.tool_calls == [
            {"id": "call123", "type": "function", "function": {"name": "weather", "arguments": '{"at":"x"}'}}
        ]

    def test_of_a_whole_answer_may_have_arguments_that_are_an_object(self):
        reader = FrameReader()
        reader.read_json(
            {"result": {"response": None, "tool_calls": [{"name": "f", "arguments": {"a": "é"}}]}}
        )
        function = {"name": "f", "arguments": '{"a": "é"}'}
        assert reader.tool_calls == [{"id": "call_0", "type": "function", "function": function}]
