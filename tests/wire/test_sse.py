"""The event stream decoder and encoder, held against the WHATWG specification and every way to cut a stream.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.wire import sse
from chat.wire.sse import Decoder, Event, LineTooLong

BOM = b"\xef\xbb\xbf"
PARTS = [*b"data event id retry : \n \r \r\n 1 \0 \xff".split(b" "), b" ", BOM, "é😀\u2028".encode()]
LINE_ENDS = [b"\n", b"\r\n", b"\r"]


def decode(*chunks: bytes, max_line: int = 1_000_000) -> list[Event]:
    decoder = Decoder(max_line)
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.close()


def data_of(*chunks: bytes) -> list[str]:
    return [event.data for event in decode(*chunks)]


SAMPLES = {
    "the specification's stock ticker": (b"data: YHOO\ndata: +2\ndata: 10\n\n", [Event("YHOO\n+2\n10")]),
    "the specification's four blocks": (
        b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
        [Event("first event", id="1"), Event("second event"), Event(" third event")],
    ),
    "the specification's empty data": (
        b"data\n\ndata\ndata\n\ndata:",
        [Event(""), Event("\n"), Event("", unfinished=True)],
    ),
    "the specification's optional space": (b"data:test\n\ndata: test\n\n", [Event("test"), Event("test")]),
    "the specification's named events": (
        b"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\ndata: plain\n\n",
        [Event("73857293", "add"), Event("2153", "remove"), Event("plain")],
    ),
    "an id that lasts": (
        b"id: 7\ndata: a\n\ndata: b\n\nid: 9\n\ndata: c\n\n",
        [Event("a", id="7"), Event("b", id="7"), Event("c", id="9")],
    ),
    "an id with NUL": (
        b"id: 1\ndata: a\n\nid: 2\x003\ndata: b\n\n",
        [Event("a", id="1"), Event("b", id="1")],
    ),
    "a retry, also in a block of its own": (
        b"retry: 1700\n\ndata: a\n\nretry: soon\ndata: b\n\nretry: 5\ndata: c\n\n",
        [Event("a"), Event("b"), Event("c")],
    ),
    "an event without data": (b"event: ping\n\ndata: a\n\n", [Event("a")]),
    "unknown fields and fields in capitals": (b"DATA: x\nfoo: y\n data: z\ndata: a\n\n", [Event("a")]),
    "a colon in the data": (b"data: a: b\n\ndata::c\n\n", [Event("a: b"), Event(":c")]),
    "a mark at the start and another inside": (
        BOM + b"data: a\n\n" + BOM + b"data: lost\n\ndata: b\n\n",
        [Event("a"), Event("b")],
    ),
    "a mark before a comment": (BOM + b": hello\n\ndata: a\n\n", [Event("a")]),
    "characters at which splitlines splits": (
        "data: a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n\n".encode(),
        [Event("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg")],
    ),
    "two, three and four byte characters": ("data: é€😀\nid: ü\n\n".encode(), [Event("é€😀", id="ü")]),
    "bytes that are not UTF-8": (b"data: \xff\xe2\x82\n\n", [Event("\ufffd\ufffd")]),
    "a last event without its blank line": (
        b"data: a\n\ndata: b\n",
        [Event("a"), Event("b", unfinished=True)],
    ),
    "a last line without its end": (b"data: a\n\ndata: b", [Event("a"), Event("b", unfinished=True)]),
    "nothing": (b"", []),
    "comments only": (b": one\n\n:\n:two", []),
}


@pytest.mark.parametrize("line_end", LINE_ENDS, ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(("raw", "events"), SAMPLES.values(), ids=SAMPLES.keys())
class TestEverySample:
    def test_byte_by_byte(self, raw, events, line_end):
        raw = raw.replace(b"\n", line_end)
        assert decode(*(raw[i : i + 1] for i in range(len(raw)))) == events

    def test_cut_at_every_point(self, raw, events, line_end):
        raw = raw.replace(b"\n", line_end)
        for cut in range(len(raw) + 1):
            assert decode(raw[:cut], raw[cut:]) == events


@given(st.lists(st.sampled_from(PARTS)).map(b"".join), st.lists(st.integers(0, 200)))
def test_the_chunking_never_matters(raw, cuts):
    edges = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    chunks = [raw[a:b] for a, b in pairwise(edges)]
    assert decode(*chunks) == decode(raw)


def test_an_event_is_returned_by_the_chunk_that_completes_it():
    decoder = Decoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\ndata: b") == [Event("a")]
    assert decoder.feed(b"\r\r") == [Event("b")]
    assert decoder.feed(b"\n") == []
    assert decoder.close() == []


def test_closing_twice_returns_nothing_new():
    decoder = Decoder()
    decoder.feed(b"data: a")
    assert decoder.close() == [Event("a", unfinished=True)]
    assert decoder.close() == []


class TestALineWithoutEnd:
    def test_is_refused_once_it_is_too_long(self):
        decoder = Decoder(max_line=100)
        decoder.feed(b"data: " + b"x" * 94)
        with pytest.raises(LineTooLong, match="longer than 100 bytes"):
            decoder.feed(b"x")

    def test_is_also_refused_when_it_does_end(self):
        with pytest.raises(LineTooLong):
            Decoder(max_line=100).feed(b"data: " + b"x" * 95 + b"\n\n")

    def test_counts_like_the_lines_of_one_event_together(self):
        decoder = Decoder(max_line=100)
        with pytest.raises(LineTooLong):
            decoder.feed(b"data: x\n" * 30)

    def test_of_exactly_the_limit_is_read(self):
        assert data_of(b"data: " + b"x" * 94 + b"\n\n") == ["x" * 94]

    def test_does_not_take_the_events_before_it(self):
        decoder = Decoder(max_line=100)
        assert decoder.feed(b"data: a\n\n" + b"x" * 101) == [Event("a")]
        with pytest.raises(LineTooLong):
            decoder.close()
        with pytest.raises(LineTooLong):
            decoder.feed(b"\n\ndata: b\n\n")

    def test_does_not_count_what_came_before(self):
        decoder = Decoder(max_line=100)
        for _ in range(100):
            assert decoder.feed(b"data: 12345678\n\n: ping\n\n") == [Event("12345678")]


class TestEncode:
    @given(st.text(), st.text().filter(lambda name: not set(name) & set("\r\n")), st.uuids())
    def test_is_read_back_as_it_was(self, data, event, id_):
        raw = sse.encode(data, event=event, id=str(id_))
        read = data.replace("\r\n", "\n").replace("\r", "\n")
        assert decode(raw) == [Event(read, event or "message", str(id_))]

    def test_has_the_form_that_plain_clients_read(self):
        assert sse.encode('{"response":"Hi"}') == b'data: {"response":"Hi"}\n\n'
        assert sse.encode("{}", event="done", id="1234!") == b"event: done\nid: 1234!\ndata: {}\n\n"

    @pytest.mark.parametrize("wrong", [{"event": "a\nb"}, {"event": "a\r"}, {"id": "1\n2"}, {"id": "\0"}])
    def test_refuses_what_would_become_another_line(self, wrong):
        with pytest.raises(ValueError, match="cannot hold"):
            sse.encode("x", **wrong)

    def test_sends_half_a_character_as_the_escape_that_json_has(self):
        raw = sse.encode(sse.dumps({"response": "a\ud83d"}))
        assert json.loads(data_of(raw)[0]) == {"response": "a\ud83d"}


class TestDumps:
    @given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner)))
    def test_is_one_line_for_every_reader_and_reads_back(self, value):
        text = sse.dumps(value)
        assert text.splitlines() == [text]
        assert json.loads(text) == value

    def test_is_compact_and_keeps_letters_readable(self):
        assert sse.dumps({"response": "é", "html": [[0, "<p>"]]}) == '{"response":"é","html":[[0,"<p>"]]}'


def test_ping_is_a_comment_and_done_is_literal():
    assert decode(sse.retry(1700) + sse.PING + sse.DONE) == [Event("[DONE]")]
    assert sse.retry(1700) == b"retry: 1700\n\n"
