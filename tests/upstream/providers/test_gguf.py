"""The header of a model file says what it is; a file that is something else never does harm."""

import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chat.upstream import parameters
from chat.upstream.providers.gguf import Header, InvalidGguf, can_call_tools, can_think, read_header
from chat.upstream.providers.llama_cpp import LocalModel
from tests.upstream.providers.gguf_files import ARRAY, STRING, UINT32, UINT64, gguf, string

LLAMA = ("general.architecture", STRING, "llama")
WINDOW = ("llama.context_length", UINT32, 8192)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


def header(file: Path, data: bytes) -> Header:
    file.write_bytes(data)
    return read_header(file)


def test_a_model_that_writes_text_has_a_window(file: Path) -> None:
    read = header(file, gguf([LLAMA, WINDOW]))
    assert (read.architecture, read.context_length, read.writes_text) == ("llama", 8192, True)


def test_the_window_may_be_of_any_width(file: Path) -> None:
    assert header(file, gguf([LLAMA, ("llama.context_length", UINT64, 131_072)])).context_length == 131_072


def test_other_keys_around_it_are_passed_over(file: Path) -> None:
    others = [
        ("general.tags", ARRAY, (STRING, ["one", "two"])),
        ("some.numbers", ARRAY, (UINT32, [1, 2, 3])),
        ("some.word", STRING, "ünïcode"),
        ("some.template", STRING, "x" * 100_000),
    ]
    for entries in ([*others, LLAMA, WINDOW], [LLAMA, *others, WINDOW], [WINDOW, LLAMA, *others]):
        assert header(file, gguf(entries)).context_length == 8192


def test_the_vocabulary_is_not_read(file: Path) -> None:
    begun = string("tokenizer.ggml.tokens") + struct.pack("<IIQ", ARRAY, STRING, 10**12)
    assert header(file, gguf([LLAMA, WINDOW], keys=3) + begun).writes_text


@pytest.mark.parametrize("kind", ["bert", "nomic-bert", "jina-bert-v2", "modern-bert", "t5encoder"])
def test_a_model_that_only_reads_writes_nothing(file: Path, kind: str) -> None:
    entries = [("general.architecture", STRING, kind), (f"{kind}.context_length", UINT32, 512)]
    assert not header(file, gguf(entries)).writes_text


@pytest.mark.parametrize(
    "more",
    [
        ("llama.pooling_type", UINT32, 1),
        ("general.type", STRING, "adapter"),
        ("general.type", STRING, "mmproj"),
    ],
)
def test_a_file_that_is_only_part_of_a_model_writes_nothing(file: Path, more: tuple[str, int, Any]) -> None:
    assert header(file, gguf([LLAMA, WINDOW])).writes_text
    assert not header(file, gguf([LLAMA, WINDOW, more])).writes_text


@pytest.mark.parametrize("value", [(STRING, "8192"), (ARRAY, (UINT32, [8192])), (UINT32, 0), (6, 8192.5)])
def test_a_window_that_is_no_number_of_tokens_is_none(file: Path, value: tuple[int, Any]) -> None:
    read = header(file, gguf([LLAMA, ("llama.context_length", *value)]))
    assert (read.context_length, read.writes_text) == (0, False)


def test_a_file_without_keys_says_nothing(file: Path) -> None:
    assert not header(file, gguf([])).writes_text


def test_cut_off_anywhere_it_is_no_model(file: Path) -> None:
    whole = gguf([LLAMA, ("general.tags", ARRAY, (STRING, ["one", "two"])), WINDOW])
    for length in range(len(whole)):
        with pytest.raises(InvalidGguf):
            header(file, whole[:length])


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"GGML" + bytes(100),
        b"PK\x03\x04" + bytes(100),
        b"GGUF" + struct.pack(">IQQ", 3, 0, 1),
        gguf([], keys=2**63),
        gguf([], keys=1) + struct.pack("<Q", 2**63) + bytes(100),
        gguf([], keys=1) + struct.pack("<Q", 2**61) + bytes(100),
        gguf([], keys=1) + string("a") + struct.pack("<I", 99) + bytes(100),
        gguf([], keys=2) + string("a") + struct.pack("<IIQ", ARRAY, UINT64, 2**64 - 1) + bytes(100),
        gguf([], keys=2) + string("a") + struct.pack("<IIQ", ARRAY, UINT64, 2**58) + bytes(100),
        gguf([], keys=1) + string("a") + struct.pack("<IIQ", ARRAY, STRING, 2**60) + bytes(100),
        gguf([], keys=1) + string("a") + struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 5_000,
    ],
)
def test_a_damaged_header_is_refused_at_once(file: Path, damaged: bytes) -> None:
    with pytest.raises(InvalidGguf):
        header(file, damaged)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.booleans())
@example(struct.pack("<IQQ", 3, 0, 1) + string("a") + struct.pack("<IIQ", ARRAY, ARRAY, 7), True)
def test_whatever_the_bytes_nothing_worse_happens(file: Path, data: bytes, begun: bool) -> None:
    with suppress(InvalidGguf):
        assert isinstance(header(file, b"GGUF" + data if begun else data), Header)


VOCABULARY = ("tokenizer.ggml.tokens", ARRAY, (STRING, [f"word{n}" for n in range(50_000)]))
SWITCH = "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"


@pytest.mark.parametrize(("template", "thinks"), [(SWITCH, True), ("{{ messages }}", False)])
def test_model_with_a_thinking_switch_has_the_parameter(file: Path, template: str, thinks: bool) -> None:
    file.write_bytes(gguf([LLAMA, WINDOW, VOCABULARY, ("tokenizer.chat_template", STRING, template)]))
    assert can_think(file) is thinks
    model = LocalModel(file).model
    off = {"chat_template_kwargs": {"enable_thinking": False}}
    assert parameters.to_request_body(model, {"thinking": False}) == (off if thinks else {})


@pytest.mark.parametrize(
    ("template", "calls"), [("{{ message.tool_calls }}", True), ("{{ messages }}", False)]
)
def test_a_model_whose_template_knows_tools_can_call_them(file: Path, template: str, calls: bool) -> None:
    file.write_bytes(gguf([LLAMA, WINDOW, VOCABULARY, ("tokenizer.chat_template", STRING, template)]))
    assert can_call_tools(file) is calls
    assert LocalModel(file).model.tools is calls
