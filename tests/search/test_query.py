"""Parsing of a typed query."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from chat.search.query import MAX_QUERY_CHARS, MAX_QUERY_TERMS, Query, Term, parse


def term(*words: str, prefix: bool = False) -> Term:
    return Term(words, prefix)


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ("hello world ", Query((term("hello"), term("world")))),
        ("hello wor", Query((term("hello"), term("wor", prefix=True)))),
        ("wo", Query((term("wo"),))),
        ("hel* world ", Query((term("hel", prefix=True), term("world")))),
        ('"hello world"', Query((term("hello", "world"),))),
        ("“hello world”", Query((term("hello", "world"),))),
        ('"hello world', Query((term("hello", "world"),))),
        ("foo -bar", Query((term("foo"),), (term("bar"),))),
        ('-"foo bar"', Query((), (term("foo", "bar"),))),
        ("foo.bar ", Query((term("foo", "bar"),))),
        ("useEffect", Query((term("useeffect", prefix=True),))),
        ("model:GLM x ", Query((term("x"),), model="glm")),
        ("in:title x ", Query((term("x"),), in_title=True)),
        ("is:pinned is:archived", Query(pinned=True, archived=True)),
        ("before:2026-02", Query(before=datetime(2026, 2, 1, tzinfo=UTC))),
        ("after:2026", Query(after=datetime(2026, 1, 1, tzinfo=UTC))),
        ("日本", Query((term("日", "本"),))),
    ],
)
def test_words_phrases_and_operators_make_a_query(typed: str, query: Query) -> None:
    assert parse(typed, UTC) == query


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("before:yesterday ", ("before", "yesterday")),
        ("before:2026-13 ", ("before", "2026", "13")),
        ("after:0000 ", ("after", "0000")),
        ("in:body ", ("in", "body")),
        ("model: ", ("model",)),
        ("is:x ", ("is", "x")),
        ("NEAR(a b) ", ("near", "a")),
    ],
)
def test_unknown_operators_are_words(typed: str, words: tuple[str, ...]) -> None:
    assert parse(typed, UTC).terms[0].words == words


@pytest.mark.parametrize("typed", ["", " ", '"', "-", "*", "''", "()", ":", "\0", '-""', "\ud800"])
def test_a_query_without_words_is_empty(typed: str) -> None:
    assert parse(typed, UTC).is_empty


def test_a_day_begins_in_the_persons_time_zone() -> None:
    zone = timezone(timedelta(hours=9))
    assert parse("before:2026-02-03", zone).before == datetime(2026, 2, 3, tzinfo=zone)


def test_a_long_query_is_cut() -> None:
    found = parse("word " * 1_000, UTC)
    assert len(found.terms) == MAX_QUERY_TERMS
    assert len(parse("x" * 1_000, UTC).terms[0].words[0]) <= MAX_QUERY_CHARS
