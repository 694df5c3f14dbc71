"""The load client's reading of the bytes that it kept."""

import math

import pytest

from .transcript import Reader, Transcript

FRAMES = (
    b": ping\n\n",
    b'event: meta\ndata: {"response":"","run":"1"}\n\n',
    'id: 4\ndata: {"response":"zwölf "}\n\n'.encode(),
    b'data: {"choices":[{"delta":{"content":"words"}}]}\n\n',
    b"data: [DONE]\n\n",
)
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + b"".join(FRAMES)
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"".join(b"%x\r\n%s\r\n" % (len(frame), frame) for frame in FRAMES)
    + b"0\r\n\r\n"
)


@pytest.mark.parametrize("response", [PLAIN, CHUNKED])
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_stream_is_read_whatever_pieces_it_comes_in(response: bytes, step: int) -> None:
    reader = Reader(sent=100.0)
    for at in range(0, len(response), step):
        reader.feed(101.0 + at, response[at : at + step])
    found = reader.transcript
    assert (found.status, found.text, found.complete) == (200, "zwölf words", True)
    assert len(found.arrivals) == 2
    assert found.first >= 1


def test_silent_stream_has_no_first_text_and_is_incomplete() -> None:
    reader = Reader(sent=100.0)
    reader.feed(101.0, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
    assert (reader.transcript.status, reader.transcript.complete) == (503, False)
    assert math.isinf(reader.transcript.first)


def test_gaps_and_rate_are_those_between_pieces_of_text() -> None:
    stream = Transcript(sent=0.0, text="one two three four five ", arrivals=[1.0, 1.5, 2.0, 2.5, 3.0])
    assert stream.rate == 2
    assert stream.gaps(1.4, 2.6) == [0.5, 0.5]


def test_the_part_of_a_text_within_a_time_is_in_characters() -> None:
    stream = Transcript(sent=0.0, text="one two three ", arrivals=[1.0, 1.5, 3.0], lengths=[4, 4, 6])
    assert stream.part(1.2, 3.0) == 10 / 14
    assert stream.part(3.1, 9.0) == 0
