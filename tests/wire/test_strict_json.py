"""Parsed values can be compared, stored and written again."""

import json

import pytest

from chat.wire import strict_json
from chat.wire.strict_json import MAX_JSON_DEPTH, InvalidJSON, loads


@pytest.mark.parametrize(
    "body",
    ["{}", "[]", "0", '"x"', "null", '{"a": [1, 1.5, true, "é", "\\ud83d\\ude00", "\\u0000"]}', "1" * 300],
)
def test_valid_json(body: str) -> None:
    read = loads(body.encode())
    assert read == json.loads(body)
    json.dumps(read, ensure_ascii=False, allow_nan=False).encode()


def test_bom_is_ignored_and_the_last_duplicate_key_wins() -> None:
    assert loads(b'\xef\xbb\xbf{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", strict_json.NOT_JSON),
        (b"{", strict_json.NOT_JSON),
        (b"[NaN]", strict_json.NOT_JSON),
        (b"[-Infinity]", strict_json.NOT_JSON),
        (b'"\xff"', strict_json.NOT_JSON),
        (b'"\xed\xa0\x80"', strict_json.NOT_JSON),
        ('{"a": 1}'.encode("utf-16"), strict_json.NOT_JSON),
        (b'{"a": [1e400]}', strict_json.OUT_OF_RANGE),
        (b'{"a": -1e309}', strict_json.OUT_OF_RANGE),
        (b"1" * 309, strict_json.OUT_OF_RANGE),
        (b"9" * 4_300, strict_json.OUT_OF_RANGE),
        (b"9" * 100_000, strict_json.OUT_OF_RANGE),
        (b'["\\ud800"]', strict_json.HALF_CHARACTER),
        (b'{"\\uDC00": 1}', strict_json.HALF_CHARACTER),
        (b'{"a": [{"b": "\\ud83d\\ud83d\\ude00"}]}', strict_json.HALF_CHARACTER),
        (b"[" * 200 + b"]" * 200, strict_json.TOO_DEEP),
        (b"[" * 100_000, strict_json.TOO_DEEP),
        (b'{"a":' * 100 + b"1" + b"}" * 100, strict_json.TOO_DEEP),
    ],
)
def test_invalid_json_is_refused(body: bytes, why: str) -> None:
    with pytest.raises(InvalidJSON) as refused:
        loads(body)
    assert str(refused.value) == why


def test_brackets_go_so_deep() -> None:
    loads(b"[" * MAX_JSON_DEPTH + b"1" + b"]" * MAX_JSON_DEPTH)
    with pytest.raises(InvalidJSON):
        loads(b"[" * (MAX_JSON_DEPTH + 1) + b"1" + b"]" * (MAX_JSON_DEPTH + 1))


@pytest.mark.parametrize(
    ("body", "containers"),
    [
        (b'{"a": [[], {}]}', 4),
        (b'{"a": "[[[[[["}', 1),
        (rb'{"a": "\"[\\", "b": ["]"]}', 2),
        (rb'{"a": "\\", "[": "{"}', 1),
    ],
)
def test_lists_and_objects_are_counted_outside_of_texts(body: bytes, containers: int) -> None:
    assert strict_json.loads(body, max_containers=containers) == json.loads(body)
    with pytest.raises(strict_json.InvalidJSON, match="too many"):
        strict_json.loads(body, max_containers=containers - 1)


@pytest.mark.parametrize("many", [b"1,", b'"k":1,', b"1.5,"], ids=["list", "object", "floats"])
def test_small_values_have_a_limit_where_lists_have_one(many: bytes) -> None:
    open_, close = (b"{", b'"k":1}') if b":" in many else (b"[", b"1]")
    body = open_ + many * (strict_json.MAX_COMMAS + 1) + close
    assert strict_json.loads(body)
    with pytest.raises(strict_json.InvalidJSON):
        strict_json.loads(body, max_containers=1)
    text = b'["' + b"a, b " * (strict_json.MAX_COMMAS + 1) + b'"]'
    assert strict_json.loads(text, max_containers=1)
