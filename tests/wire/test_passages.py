"""The passages of AI Search, in each place of a response, and what a broken one becomes."""

import json

import pytest

from chat.wire.frames import FrameReader
from chat.wire.passages import Passage, Source, passages
from chat.wire.sse import Decoder, Event


def chunk(key: object, text: object = "words", score: object = 0.5) -> dict[str, object]:
    return {"id": "1", "type": "text", "score": score, "text": text, "item": {"key": key}}


def read(stream: bytes, size: int) -> FrameReader:
    decoder, reader = Decoder(), FrameReader()
    for start in range(0, len(stream), size):
        for event in decoder.feed(stream[start : start + size]):
            reader.read(event)
    return reader


@pytest.mark.parametrize("size", [1, 10_000])
def test_the_event_before_the_text_is_read(size: int) -> None:
    found = [chunk("a.md"), chunk("b.md")]
    stream = b"event: chunks\ndata: %b\n\ndata: {}\n\ndata: [DONE]\n\n" % json.dumps(found).encode()
    assert read(stream, size).chunks == found


def test_a_field_of_a_frame_or_of_a_json_answer_is_read() -> None:
    found = [chunk("a.md")]
    for body in ({"chunks": found}, {"result": {"chunks": found, "choices": []}, "success": True}):
        reader = FrameReader()
        reader.read(Event(json.dumps(body)))
        assert reader.chunks == found


@pytest.mark.parametrize("data", ["", "{", "null", '{"a": 1}', '"words"', "[1, null]"])
def test_broken_passages_do_not_break_the_reply(data: str) -> None:
    reader = FrameReader()
    assert reader.read(Event(data, "chunks")) is None
    assert reader.chunks == []
    delta = reader.read(Event('{"response": "text"}'))
    assert delta
    assert delta.text == "text"


def test_an_event_that_was_cut_is_left_out() -> None:
    reader = FrameReader()
    reader.read(Event("[{}]", "chunks", unfinished=True))
    assert reader.chunks == []


def test_passages_stand_by_source_the_best_first() -> None:
    found = [chunk("b", "1", 0.5), chunk("a", "2", 0.4), chunk("a", "3", 0.9), chunk("b", "4", 0.8)]
    assert [(each.key, each.text) for each in passages(found)] == [
        ("a", "3"),
        ("a", "2"),
        ("b", "4"),
        ("b", "1"),
    ]


@pytest.mark.parametrize(
    "broken", [{}, chunk(None), chunk(5), chunk("a", None), chunk("a", " "), chunk(" "), {"item": []}]
)
def test_a_passage_without_key_or_text_is_left_out(broken: dict[str, object]) -> None:
    assert passages([broken, chunk("a")]) == [Passage("a", "words", 0.5)]


@pytest.mark.parametrize("score", [None, "0.9", float("nan"), float("inf")])
def test_a_score_that_is_none_counts_least(score: object) -> None:
    assert [each.key for each in passages([chunk("a", score=score), chunk("b")])] == ["b", "a"]


def test_characters_that_no_database_takes_are_removed() -> None:
    assert passages([chunk("a\n\0 b", "x\0\ud800")]) == [Passage("a b", "x�", 0.5)]


PAGE, OTHER = "https://example.org/a", "https://example.org/b"


def annotation(url: str, title: str = "", **more: object) -> dict[str, object]:
    return {"type": "url_citation", "url_citation": {"url": url, "title": title, **more}}


@pytest.mark.parametrize(
    ("frames", "sources"),
    [
        ([{"citations": [PAGE, OTHER]}, {"citations": [PAGE, OTHER]}], [Source(PAGE), Source(OTHER)]),
        ([{"citations": [PAGE]}, {"citations": [PAGE, OTHER]}], [Source(PAGE), Source(OTHER)]),
        (
            [{"citations": [PAGE], "search_results": [{"title": "A", "url": PAGE, "snippet": "words"}]}],
            [Source(PAGE, "A", "words")],
        ),
        ([{"citations": [{"url": PAGE, "title": "A \n b"}]}], [Source(PAGE, "A b")]),
        (
            [{"choices": [{"delta": {"content": "x", "annotations": [annotation(PAGE, "A", content="c")]}}]}],
            [Source(PAGE, "A", "c")],
        ),
        ([{"choices": [{"message": {"content": "x", "annotations": [annotation(PAGE)]}}]}], [Source(PAGE)]),
        ([{"citations": "none"}, {"citations": [7, None, {}, {"url": 1}, {"url": ""}]}], []),
    ],
)
def test_pages_that_a_model_names_are_its_sources(frames: list[object], sources: list[Source]) -> None:
    reader = FrameReader()
    for frame in frames:
        reader.read(Event(json.dumps(frame)))
    assert reader.sources == sources
