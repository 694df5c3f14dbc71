"""A JSON file is read object by object, whatever pieces it comes in."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transfer import json_items
from chat.transfer.json_items import MAX_ITEM_DEPTH, Oversized, items
from chat.transfer.problems import FileProblem

VALUES = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\{}[]é\n,'),
    lambda child: (
        st.lists(child, max_size=3) | st.dictionaries(st.text('a"\\[', max_size=3), child, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text('ab"\\', max_size=3), VALUES, max_size=3), max_size=4)


def read(text: bytes, size: int) -> list[object]:
    """The parsed objects, with the file read in chunks of that size."""
    before, json_items.CHUNK_BYTES = json_items.CHUNK_BYTES, size
    try:
        return [
            json.loads(each) if isinstance(each, bytes) else each.code for each in items(io.BytesIO(text))
        ]
    finally:
        json_items.CHUNK_BYTES = before


@given(OBJECTS, st.sampled_from([1, 3, 1_000]), st.sampled_from([None, 1]))
def test_the_objects_of_an_array_are_found(wanted: list[object], size: int, indent: int | None) -> None:
    assert read(b"\xef\xbb\xbf" + json.dumps(wanted, indent=indent).encode(), max(size, 3)) == wanted
    assert read(json.dumps(wanted, indent=indent).encode(), size) == wanted


def test_one_object_or_one_on_each_line_is_read_as_well() -> None:
    assert read(b' {"a": [1]} ', 2) == [{"a": [1]}]
    assert read(b'{"a": 1}\n{"b": 2}\n', 5) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "not_json"),
        (b"hello", "not_json"),
        (b'"hello"', "not_json"),
        (b"]", "not_json"),
        (b"[", "damaged"),
        (b'[{"a": 1}', "damaged"),
        (b'{"a": ', "damaged"),
        (b'[{"a": "', "damaged"),
        (b"[1, 2]", "no_conversations"),
        (b"[[{}]]", "no_conversations"),
        (b'["a"]', "no_conversations"),
        (b"[{}] []", "no_conversations"),
        (b"[{}] x", "no_conversations"),
    ],
)
def test_a_file_without_a_list_of_objects_is_refused(text: bytes, code: str) -> None:
    for size in (1, 1_000):
        with pytest.raises(FileProblem) as refused:
            read(text, size)
        assert refused.value.code == code


def test_an_object_that_is_too_large_or_too_deep_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = b'{"a":' * MAX_ITEM_DEPTH + b"{}" + b"}" * MAX_ITEM_DEPTH
    assert read(b"[" + deep + b', {"b": 1}]', 1_000) == ["deep", {"b": 1}]
    monkeypatch.setattr(json_items, "MAX_ITEM_BYTES", 10)
    assert read(b'[{"a": "too large"}, {"b": 1}]', 4) == ["large", {"b": 1}]
    assert isinstance(next(items(io.BytesIO(b'{"a": "too large"}'))), Oversized)
