"""Text cut inside a character, and thinking told from the reply."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.wire.text import MIN_OVERLAP_CHARS, OverlapFilter, StopSequences
from tests.wire.streams import body, chunk, ended, frames, message, read, read_both_ways


@given(st.text(st.characters()) | st.text("😀é\ud83d\ude00\udc4d\0x"), st.lists(st.integers(0, 100)))
def test_text_cut_between_its_utf_16_units_reads_like_the_whole(text, cuts):
    units = text.encode("utf-16-le", "surrogatepass")
    edges = sorted({0, len(units), *(cut * 2 % (len(units) + 2) for cut in cuts)})
    pieces = [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(edges)]
    whole = units.decode("utf-16-le", "replace").replace("\0", "")
    if "\0" not in text:  # a NUL between two halves joins them, in the whole as well
        assert read(frames(*({"response": piece} for piece in pieces))).text == whole
    found = read(frames(*(chunk(piece) for piece in pieces))).text
    assert found == read(frames({"response": text})).text
    assert "\0" not in found


class TestInlineReasoning:
    @pytest.mark.parametrize(
        ("stream", "text", "reasoning"),
        [
            ("Let me see.</think>\n\nYes.", "Yes.", "Let me see."),
            ("<think>Let me see.</think>Yes.", "Yes.", "Let me see."),
            ("\n<think>\nHm</think>Yes", "Yes", "Hm"),
            ("a < b </ think </thin</think>x</think>y", "x</think>y", "a < b </ think </thin"),
            ("<thinking is hard>", "", "<thinking is hard>"),
            ("never ends </thi", "", "never ends </thi"),
            ("<thi", "", "<thi"),
            ("<think>", "", ""),
            ("</think>", "", ""),
            ("😀</think>👍", "👍", "😀"),
        ],
    )
    def test_ends_with_its_tag_however_it_is_cut(self, stream, text, reasoning):
        expected = (text, reasoning)
        for cut in range(len(stream) + 1):
            reply = read(
                frames({"response": stream[:cut]}, {"response": stream[cut:]}), inline_reasoning=True
            )
            assert (reply.text, reply.reasoning) == expected
        reply = read(frames(*({"response": letter} for letter in stream)), inline_reasoning=True)
        assert (reply.text, reply.reasoning) == expected

    def test_is_not_looked_for_once_the_server_sends_reasoning_apart(self):
        stream = frames(chunk(None, reasoning_content="Hm."), chunk("Yes "), chunk("or no"))
        reply = read(stream, inline_reasoning=True)
        assert (reply.text, reply.reasoning) == ("Yes or no", "Hm.")

    def test_is_left_alone_in_the_text_of_other_models(self):
        assert read(frames({"response": "a</think>b"})).text == "a</think>b"

    def test_is_the_text_of_a_model_that_did_not_think(self):
        reply = read_both_ways(frames(chunk("Yes"), chunk("."), ended("stop")), inline_reasoning=True)
        assert reply.text == "Yes."

    def test_is_found_in_a_whole_answer(self):
        reply = read(body({"result": {"response": "Hm</think>Yes"}}), inline_reasoning=True)
        assert (reply.text, reply.reasoning) == ("Yes", "Hm")


class TestReasoningTags:
    """Of models that nothing is known about."""

    @pytest.mark.parametrize(
        ("stream", "text", "reasoning"),
        [
            *(
                (f"<{tag}>\nLet me see.\n</{tag}>\n\nHello!", "Hello!", "Let me see.\n")
                for tag in (
                    "think",
                    "thinking",
                    "thought",
                    "reason",
                    "reasoning",
                    "seed:think",
                    "Think",
                    "THINKING",
                    "mm:think",
                    "ifm|think",
                )
            ),
            ("<Think>Hm</tHINK>Yes", "Yes", "Hm"),
            ("<Think> is a tag that", "<Think>is a tag that", "is a tag that"),
            ("<|inner_prefix|>Hm<|inner_suffix|>Yes", "Yes", "Hm"),
            ("[unused16]Hm[unused17]Yes", "Yes", "Hm"),
            ("<|START_THINKING|>Hm<|END_THINKING|>Yes", "Yes", "Hm"),
            ("<|START_THINKING|>Hm<|END_THINKING|>\n<|START_RESPONSE|>Yes<|END_RESPONSE|>", "Yes", "Hm"),
            ("<|START_THINKING|>Hm<|END_THINKING|><|START_RESPONSE|>a <|END", "a <|END", "Hm"),
            ("<|START_THINKING|>Hm<|END_THINKING|><|START_RES", "<|START_RES", "Hm"),
            ("<|START_THINKING|>", "<|START_THINKING|>", ""),
            ("<|START_RESPONSE|>Yes<|END_RESPONSE|>", "Yes", ""),
            # No server writes it; programs that ask for it, as for a summary, read it themselves.
            ("<analysis>Hm</analysis><summary>Yes", "<analysis>Hm</analysis><summary>Yes", ""),
            ("[THINK]Hm[/THINK]Yes", "Yes", "Hm"),
            ("◁think▷Hm◁/think▷Yes", "Yes", "Hm"),
            ("<|begin_of_thought|>Hm<|end_of_thought|>Yes", "Yes", "Hm"),
            ("<longcat_think>Hm</longcat_think>Yes", "Yes", "Hm"),
            ("<unused94>thought\nHm<unused95>Yes", "Yes", "Hm"),
            ("<|channel>thought\nHm<channel|>Yes", "Yes", "Hm"),
            (
                "<|channel|>analysis<|message|>Hm<|end|>"
                "<|start|>assistant<|channel|>final<|message|>Yes<|end|>",
                "Yes<|end|>",
                "Hm",
            ),
            ("<|channel|>final<|message|>Yes", "<|channel|>final<|message|>Yes", ""),
            ("[THINK](https://x.org) is", "[THINK](https://x.org) is", "(https://x.org) is"),
            ("\n <think>Hm</think>Yes", "Yes", "Hm"),
            ("<think></think>Yes", "Yes", ""),
            ("<think>a <b> </b> </thi nk></thinking></think>Yes", "Yes", "a <b> </b> </thi nk></thinking>"),
            ("<think>Hm</think>Use <think> and </think>.", "Use <think> and </think>.", "Hm"),
            ("<think>Hm</think>", "", "Hm"),
            ("a <think>b</think> c", "a <think>b</think> c", ""),
            ("`<think>` opens it, `</think>` closes it.", "`<think>` opens it, `</think>` closes it.", ""),
            ("```\n<think>\n```", "```\n<think>\n```", ""),
            ("<thin", "<thin", ""),
            ("<thinker>a</thinker>", "<thinker>a</thinker>", ""),
            ("a</think>b", "a</think>b", ""),
            ("  code", "  code", ""),
            ("<think> is a tag that", "<think>is a tag that", "is a tag that"),
        ],
    )
    def test_are_read_at_the_beginning_however_they_are_cut(self, stream, text, reasoning):
        expected = (text, reasoning)
        for cut in range(len(stream) + 1):
            reply = read(frames(chunk(stream[:cut]), chunk(stream[cut:]), ended("stop")))
            assert (reply.text, reply.reasoning) == expected
        reply = read_both_ways(frames(*map(chunk, stream), ended("stop")))
        assert (reply.text, reply.reasoning) == expected
        reply = read(body(message(content=stream)))
        assert (reply.text, reply.reasoning) == expected

    def test_stay_reasoning_in_a_reply_that_was_cut_there(self):
        reply = read(frames(chunk("<think>Let me"), ended("length")))
        assert (reply.text, reply.reasoning) == ("", "Let me")
        reply = read(frames(chunk("<think>Let me"))[: -len(b"data: [DONE]\n\n")])
        assert (reply.text, reply.reasoning) == ("", "Let me")

    def test_are_text_where_the_server_sends_reasoning_apart(self):
        reply = read(frames(chunk(None, reasoning="Hm."), chunk("<think> is a tag.")))
        assert (reply.text, reply.reasoning) == ("<think> is a tag.", "Hm.")


def cut(pieces: list[str], *stops: str) -> tuple[str, bool]:
    cutter = StopSequences(stops)
    text = "".join(cutter.add(piece) for piece in pieces)
    return text + cutter.flush(), cutter.found


@pytest.mark.parametrize(
    ("text", "stops", "expected"),
    [
        ("one two three", ["two"], "one "),
        ("one two three", ["three", "two"], "one "),
        ("one two three", ["four"], "one two three"),
        ("one two three", ["three!"], "one two three"),
        ("aaab", ["aab"], "a"),
        ("ababac", ["abac"], "ab"),
        ("a\n\nb", ["\n\n"], "a"),
        ("a😀b", ["😀"], "a"),
        ("stop", ["stop"], ""),
        ("abcabd", ["abd", "cab"], "ab"),
        ("abc", ["abc", "b"], "a"),
        ("", ["x"], ""),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_text_ends_before_the_first_stop(text: str, stops: list[str], expected: str, size: int) -> None:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert cut(pieces, *stops) == (expected, expected != text)


def test_only_a_possible_beginning_is_held_back() -> None:
    cutter = StopSequences(["END"])
    assert [cutter.add(piece) for piece in ("one ", "E", "x", "two EN", "", "ough")] == [
        "one ", "", "Ex", "two ", "", "ENough",
    ]  # fmt: skip
    assert (cutter.flush(), cutter.found) == ("", False)


def test_nothing_follows_a_stop() -> None:
    cutter = StopSequences(["END"])
    assert [cutter.add("oneEND two"), cutter.add("three"), cutter.flush()] == ["one", "", ""]


def joined(earlier: str, new: str, size: int) -> str:
    """The old text and the new one, which comes in pieces of `size`."""
    seam = OverlapFilter(earlier)
    pieces = [seam.feed(new[at : at + size]) for at in range(0, len(new), size)]
    return earlier + "".join(pieces) + seam.close()


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize(
    ("earlier", "new", "whole"),
    [
        ("The quick brown", "The quick brown fox", "The quick brown fox"),
        ("The quick brown", " fox", "The quick brown fox"),
        ("It was a very quick brown", "very quick brown fox", "It was a very quick brown fox"),
        ("The inter", "national", "The international"),
        ("ha ha", " ha ha", "ha ha ha ha"),
        ("  }\n", "  }\n}\n", "  }\n  }\n}\n"),
        ("- one item here\n", "- one item here\n- two", "- one item here\n- two"),
        ("", "hello", "hello"),
        ("The quick brown", "", "The quick brown"),
        ("The quick brown", "The quick", "The quick brownThe quick"),
        ("abcabcabcabc", "abcabcabcabcd", "abcabcabcabcd"),
    ],
)
def test_a_repeated_end_is_there_once(earlier: str, new: str, whole: str, size: int) -> None:
    assert joined(earlier, new, size) == whole


@given(st.text("ab \n", max_size=40), st.text("ab \n", max_size=60), st.integers(1, 9))
def test_any_pieces_give_the_same(earlier: str, new: str, size: int) -> None:
    assert joined(earlier, new, size) == joined(earlier, new, len(new) + 1)


@given(st.text(min_size=MIN_OVERLAP_CHARS * 2, max_size=200), st.text(max_size=60), st.integers(1, 9))
def test_a_whole_repetition_goes(earlier: str, new: str, size: int) -> None:
    if len("".join(earlier.split())) >= MIN_OVERLAP_CHARS and new[:1] not in earlier:
        assert joined(earlier, earlier + new, size) == earlier + new
