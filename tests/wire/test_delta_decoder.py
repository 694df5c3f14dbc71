"""Every stream is decoded whole and one byte at a time."""

import pytest

from chat.wire.delta_decoder import DeltaDecoder
from chat.wire.frames import FrameError

TEXT = b'data: {"response":"%s"}\n\n'
HELLO = TEXT % b"Hel" + TEXT % b"lo STOP there"
ERROR = b'data: {"errors":[{"message":"broken"}]}\n\n'
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
USAGE = b'data: {"response":"","usage":{"prompt_tokens":3,"completion_tokens":5}}\n\n'
DONE = b"data: [DONE]\n\n"


def decode(stream: bytes, size: int, **options: object) -> tuple[str, DeltaDecoder]:
    decoder = DeltaDecoder(inline_reasoning=False, **{"max_tokens": 100, **options})  # type: ignore[arg-type]
    text = ""
    for start in range(0, len(stream), size):
        delta = decoder.decode(stream[start : start + size])
        text += delta.text if delta else ""
        if decoder.has_ended:
            return text, decoder
    delta = decoder.decode(None)
    return text + (delta.text if delta else ""), decoder


sizes = pytest.mark.parametrize("size", [1, 10_000])


@sizes
def test_a_complete_stream(size: int) -> None:
    text, decoder = decode(HELLO + USAGE + DONE, size)
    assert text == "Hello STOP there"
    assert decoder.done
    assert decoder.is_complete
    assert decoder.failure is None
    assert decoder.usage is not None
    assert decoder.usage.completion_tokens == 5


@sizes
def test_a_stream_without_its_end_is_not_complete(size: int) -> None:
    text, decoder = decode(HELLO, size)
    assert text == "Hello STOP there"
    assert not decoder.is_complete
    assert decoder.finish_reason == ""


@sizes
def test_all_tokens_used_means_cut_off(size: int) -> None:
    assert decode(HELLO + USAGE + DONE, size, max_tokens=5)[1].finish_reason == "length"


@sizes
def test_an_error_comes_after_the_text_before_it(size: int) -> None:
    text, decoder = decode(HELLO + ERROR, size)
    assert text == "Hello STOP there"
    assert isinstance(decoder.failure, FrameError)


@sizes
def test_an_error_after_the_finish_reason_makes_no_failure(size: int) -> None:
    text, decoder = decode(HELLO + FINISH + ERROR, size)
    assert text == "Hello STOP there"
    assert decoder.failure is None
    assert isinstance(decoder.ignored, FrameError)
    assert (decoder.is_complete, decoder.finish_reason) == (True, "stop")


@sizes
def test_a_stop_sequence_ends_the_text_and_hides_a_later_error(size: int) -> None:
    text, decoder = decode(HELLO + ERROR, size, stop=("STOP",))
    assert text == "Hello "
    assert decoder.has_ended
    assert decoder.failure is None
    assert decoder.finish_reason == "stop"


@sizes
def test_a_json_response_ends_before_a_stop_sequence(size: int) -> None:
    text, decoder = decode(b'{"result": {"response": "Hello STOP there"}}', size, stop=("STOP",))
    assert text == "Hello "
    assert decoder.done
