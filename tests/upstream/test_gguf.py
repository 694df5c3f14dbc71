"""The header of a model file says what it is; a file that is something else never does harm."""

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chat.upstream.gguf import NotGguf, read_header
from tests.upstream.gguf_files import ARRAY, STRING, UINT32, UINT64, gguf, string


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


def header(file: Path, data: bytes) -> dict[str, Any]:
    file.write_bytes(data)
    return read_header(file)


LLAMA = [("general.architecture", STRING, "llama"), ("llama.context_length", UINT32, 8192)]


def test_a_model_that_writes_text_has_a_window(file: Path) -> None:
    assert header(file, gguf(LLAMA)) == {"architecture": "llama", "context_length": 8192}


def test_the_window_may_be_of_any_width(file: Path) -> None:
    assert (
        header(file, gguf([LLAMA[0], ("llama.context_length", UINT64, 131072)]))["context_length"] == 131072
    )


def test_other_keys_before_it_are_passed_over(file: Path) -> None:
    between = [
        ("general.tags", ARRAY, (STRING, ["one", "two"])),
        ("some.numbers", ARRAY, (UINT32, [1, 2, 3])),
        ("some.lists", ARRAY, (ARRAY, [(UINT32, [1]), (STRING, ["x"])])),
        ("some.word", STRING, "ünïcode"),
    ]
    assert header(file, gguf([LLAMA[0], *between, LLAMA[1]]))["context_length"] == 8192


def test_the_vocabulary_behind_it_is_not_read(file: Path) -> None:
    assert header(file, gguf(LLAMA, keys=3) + b"cut off here")["context_length"] == 8192


@pytest.mark.parametrize(
    "kind", ["bert", "nomic-bert", "jina-bert-v2", "modern-bert", "t5encoder", "gemma-embedding"]
)
def test_a_model_that_only_reads_has_none(file: Path, kind: str) -> None:
    entries = [("general.architecture", STRING, kind), (f"{kind}.context_length", UINT32, 512)]
    assert header(file, gguf(entries)) == {"architecture": kind}


@pytest.mark.parametrize(
    "value", [(STRING, "8192"), (ARRAY, (UINT32, [8192])), (UINT32, 0), (7, True), (6, 8192.5)]
)
def test_a_window_that_is_no_number_of_tokens_is_none(file: Path, value: tuple[int, Any]) -> None:
    assert "context_length" not in header(file, gguf([LLAMA[0], ("llama.context_length", *value)]))


def test_a_file_without_keys_says_nothing(file: Path) -> None:
    assert header(file, gguf([])) == {}


def test_cut_off_anywhere_it_is_no_model(file: Path) -> None:
    whole = gguf([LLAMA[0], ("general.tags", ARRAY, (STRING, ["one", "two"])), LLAMA[1]])
    for length in range(len(whole)):
        with pytest.raises(NotGguf):
            header(file, whole[:length])


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"GGML" + bytes(100),
        b"PK\x03\x04" + bytes(100),
        gguf([], keys=2**63),
        gguf([], keys=1) + struct.pack("<Q", 2**63) + bytes(100),
        gguf([], keys=1) + string("a") + struct.pack("<I", 99) + bytes(100),
        gguf([], keys=1) + string("a") + struct.pack("<IIQ", ARRAY, UINT64, 2**64 - 1) + bytes(100),
        gguf([], keys=1) + string("a") + struct.pack("<IIQ", ARRAY, UINT64, 2**60) + bytes(100),
        gguf([], keys=1) + string("a") + struct.pack("<IIQ", ARRAY, STRING, 2**60) + bytes(100),
        gguf([], keys=1) + string("a") + struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 5_000,
    ],
)
def test_a_damaged_header_is_refused_at_once(file: Path, damaged: bytes) -> None:
    with pytest.raises(NotGguf):
        header(file, damaged)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.booleans())
@example(struct.pack("<IQQ", 3, 0, 1) + string("a") + struct.pack("<IIQ", ARRAY, ARRAY, 7), True)
def test_whatever_the_bytes_nothing_worse_happens(file: Path, data: bytes, begun: bool) -> None:
    try:
        header(file, b"GGUF" + data if begun else data)
    except NotGguf as error:
        assert str(error)
