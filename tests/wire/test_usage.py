"""The usage of a reply, in each model's way of counting."""

import pytest

from chat.wire.frames import Usage
from tests.wire.streams import body, chunk, ended, frames, message, read, read_both_ways


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

    @pytest.mark.parametrize(
        ("fields", "usage"),
        [
            ({"usage": {"input_tokens": 5, "output_tokens": 1}}, Usage(5, 1)),
            ({"usage": {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}}, Usage(5, 1)),
            (
                {
                    "usage": {
                        "prompt_tokens": 5,
                        "completion_tokens": 90,
                        "prompt_tokens_details": {"cached_tokens": 3},
                        "completion_tokens_details": {"reasoning_tokens": 80},
                    }
                },
                Usage(5, 90, 3, 0.0, 80),
            ),
            (
                {
                    "usage": {
                        "input_tokens": 5,
                        "output_tokens": 90,
                        "input_tokens_details": {"cached_tokens": 3},
                        "output_tokens_details": {"reasoning_tokens": 80},
                    }
                },
                Usage(5, 90, 3, 0.0, 80),
            ),
            (
                {"usage": {"prompt_tokens": 5, "completion_tokens": 9, "prompt_cache_hit_tokens": 3}},
                Usage(5, 9, 3),
            ),
            ({"usage": {"prompt_tokens": 5, "completion_tokens": 9, "cached_tokens": 3}}, Usage(5, 9, 3)),
            (
                {"usage": {"input_tokens": 5, "output_tokens": 9, "cache_read_input_tokens": 3,
                           "cache_creation_input_tokens": 2}},
                Usage(10, 9, 3),
            ),
            (
                {"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 9, "thoughtsTokenCount": 4,
                                   "cachedContentTokenCount": 3, "totalTokenCount": 18}},
                Usage(5, 13, 3, 0.0, 4),
            ),
            (
                {"usage": {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135,
                           "completion_tokens_details": {"reasoning_tokens": 94}}},
                Usage(32, 103, 0, 0.0, 94),
            ),
            (
                {"usage": {"prompt_tokens": 32, "completion_tokens": 94, "total_tokens": 126,
                           "completion_tokens_details": {"reasoning_tokens": 94}}},
                Usage(32, 94, 0, 0.0, 94),
            ),
            ({"usage": {"total_tokens": 9}}, Usage(9)),
            ({"usage": {"prompt_tokens": 10, "completion_tokens": 9, "total_tokens": 150}}, Usage(10, 140)),
            ({"usage": {"prompt_tokens": 7, "completion_tokens": 10, "total_tokens": 17,
                        "reasoning_tokens": 900}}, Usage(7, 910, 0, 0.0, 900)),
            ({"usage": {"inputTokens": 10, "outputTokens": 9, "totalTokens": 1019,
                        "cacheReadInputTokens": 1000}}, Usage(1010, 9, 1000)),
            ({"usage": {"prompt_tokens": 10, "completion_tokens": 9, "total_tokens": 1019,
                        "cache_read_input_tokens": 1000}}, Usage(1010, 9, 1000)),
            ({"usage": {"prompt_tokens": "5", "completion_tokens": "9"}}, Usage(5, 9)),
            ({"prompt_eval_count": 5, "eval_count": 9}, Usage(5, 9)),
            ({"x_groq": {"id": "r", "usage": {"prompt_tokens": 5, "completion_tokens": 9}}}, Usage(5, 9)),
        ],
    )  # fmt: skip
    def test_goes_by_many_names(self, fields, usage):
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
