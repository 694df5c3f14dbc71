"""Values in the one form that all databases accept."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.backup import tables
from chat.backup.tables import COMPARABLE, ColumnKind

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
comparable = COMPARABLE[ColumnKind.JSON]


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ("2027-01-31 12:00:00", "2027-01-31 12:00:00"),
        ("2027-01-31 12:00:00.000000", "2027-01-31 12:00:00"),
        ("2027-01-31 12:00:00.000", "2027-01-31 12:00:00"),
        ("2027-01-31 12:00:00.12", "2027-01-31 12:00:00.120000"),
        ("2027-01-31 12:00:00.123456", "2027-01-31 12:00:00.123456"),
    ],
)
def test_a_time_is_written_as_django_does(stored: str, value: str) -> None:
    assert tables.time_of_sqlite(stored) == value
    assert tables.time_of_postgres(f"{stored}+00") == value


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ('{"a": 1}', '{"a": 1}'),
        (r'"\u0000"', r'"\ufffd"'),
        (r'"\\u0000"', r'"\\u0000"'),
        (r'"\\\u0000"', r'"\\\ufffd"'),
        (r'"\ud83d\ude00"', r'"\ud83d\ude00"'),
        (r'"\uD83D\uDE00\uDE00"', r'"\uD83D\uDE00\ufffd"'),
        (r'"\ud83d\ud83d\ude00"', r'"\ufffd\ud83d\ude00"'),
        (r'"\ud83d x"', r'"\ufffd x"'),
    ],
)
def test_json_that_postgresql_refuses_is_changed(text: str, stored: str) -> None:
    assert tables.storable_json(text) == stored


@given(JSON)
def test_json_is_equal_whatever_its_form(value: object) -> None:
    compact = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    assert comparable(json.dumps(value, indent=2)) == comparable(compact)


@pytest.mark.parametrize(
    ("one", "other"),
    [("[1.0]", "[1]"), ("[1e2]", "[100]"), ("[-0.0]", "[0]"), ('{"a":1,"b":2}', '{"b":2,"a":1}')],
)
def test_json_numbers_and_order_are_compared_by_value(one: str, other: str) -> None:
    assert comparable(one) == comparable(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[1]", "[2]"), ("[1]", '["1"]'), ("[1]", "[-1]"), ("[10]", "[1]"), ("[true]", "[1]"),
        ("[null]", "[]"),
        ("[0.1]", "[0.10000000000000001]"), ("[1, 2]", "[2, 1]"), ('{"a": 1}', '{"b": 1}'),
        ("[12345678901234567890]", "[12345678901234567891]"),
    ],
)  # fmt: skip
def test_different_json_is_different(one: str, other: str) -> None:
    assert comparable(one) != comparable(other)
