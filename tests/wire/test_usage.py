"""The usage of a reply, in each model's way of counting."""

import json
from pathlib import Path

import pytest

from chat.wire.usage import Usage
from tests.wire.streams import body, chunk, ended, frames, message, read, read_both_ways

TABLE = Path(__file__).with_name("usage.txt").read_text("utf-8")
NAMES = [line for line in TABLE.splitlines() if line.startswith("{")]


class TestUsage:
    INCREMENTS = (
        chunk("") | {"usage": {"prompt_tokens": 39, "completion_tokens": 0, "neurons": 1.25}},
        chunk("a") | {"usage": {"prompt_tokens": 0, "completion_tokens": 1, "neurons": 0.25}},
        chunk("b") | {"usage": {"prompt_tokens": 0, "completion_tokens": 2, "neurons": 0.25}},
        {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0, "neurons": 0}},
    )
    TOTAL = {"response": "", "usage": {"prompt_tokens": 39, "completion_tokens": 4, "neurons": 2}}

    def test_increments_are_added_up_when_no_total_comes(self):
        assert read(frames(*self.INCREMENTS)).usage == Usage(39, 3, 0, 1.75)

    def test_the_total_wins_wherever_it_stands(self):
        first, *rest = self.INCREMENTS
        for stream in ((*self.INCREMENTS, self.TOTAL), (first, self.TOTAL, *rest)):
            assert read(frames(*stream)).usage == Usage(39, 4, 0, 2)

    def test_a_total_of_zeros_says_nothing(self):
        zeros = {"response": "", "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}
        assert read(frames(*self.INCREMENTS, zeros)).usage == Usage(39, 3, 0, 1.75)
        assert read(frames(*self.INCREMENTS, self.TOTAL, zeros)).usage == Usage(39, 4, 0, 2)
        assert read(frames(zeros)).usage is None

    def test_counts_that_repeat_the_prompt_are_counts_so_far(self):
        counts = [chunk("a") | {"usage": {"prompt_tokens": 13, "completion_tokens": n}} for n in (1, 2, 3)]
        assert read(frames(*counts)).usage == Usage(13, 3)

    def test_a_single_count_at_the_end_is_the_total(self):
        assert read(
            frames(chunk("a"), {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}})
        ).usage == (Usage(5, 1))

    @pytest.mark.parametrize("bad", [None, "many", -1, True, float("nan"), float("inf"), {}, []])
    def test_a_count_that_is_none_is_not_counted(self, bad):
        usage = {"prompt_tokens": 7, "completion_tokens": bad, "neurons": bad, "prompt_tokens_details": bad}
        assert read(frames({"response": "", "usage": usage})).usage == Usage(7)
        assert read(frames(chunk() | {"usage": usage})).usage == Usage(7)

    @pytest.mark.parametrize("line", NAMES)
    def test_goes_by_many_names(self, line):
        sent, counts = line.split(" -> ")
        fields, (prompt, completion, cached, thought) = json.loads(sent), map(int, counts.split())
        usage = Usage(prompt, completion, cached, reasoning_tokens=thought)
        for last in ({"choices": [], **fields}, {**ended("stop"), **fields}, fields):
            assert read_both_ways(frames(chunk("a"), ended("stop"), last)).usage == usage
        assert read_both_ways(body({**message(content="a"), **fields})).usage == usage
        assert read_both_ways(frames({"response": "a", **fields})).usage == usage or "usage" not in fields

    def test_may_stand_in_the_choice(self):
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop",
                             "usage": {"prompt_tokens": 5, "completion_tokens": 9}}]}  # fmt: skip
        assert read_both_ways(frames(chunk("a"), last)).usage == Usage(5, 9)

    def test_as_a_dict_has_the_total(self):
        assert Usage(2, 3, 1, 0.5).as_dict() == {
            "prompt_tokens": 2,
            "completion_tokens": 3,
            "cached_tokens": 1,
            "neurons": 0.5,
            "total_tokens": 5,
        }
