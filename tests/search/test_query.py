"""Parsing of a typed query."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from chat.search.query import MAX_QUERY_CHARS, MAX_QUERY_TERMS, Query, Term, parse


def term(*words: str, prefix: bool = False, symbols: str = "", literal: str = "") -> Term:
    return Term(words, prefix, tuple(symbols.split()), literal)


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ("hello world ", Query((term("hello"), term("world")))),
        ("hello wor", Query((term("hello"), term("wor", prefix=True)))),
        ("w", Query((term("w"),))),
        ("wo", Query((term("wo", prefix=True),))),
        ("hel* world ", Query((term("hel", prefix=True), term("world")))),
        ('"hello world"', Query((term("hello", "world"),))),
        ("“hello world”", Query((term("hello", "world"),))),
        ('"hello world', Query((term("hello", "world"),))),
        ("foo -bar", Query((term("foo"),), (term("bar"),))),
        ('-"foo bar" x ', Query((term("x"),), (term("foo", "bar"),))),
        ('-"foo bar"', Query((term("foo", "bar", symbols="_d_foo", literal="-foo bar"),))),
        ("-foo is:pinned", Query((), (term("foo"),), pinned=True)),
        ("-foo ", Query((term("foo", symbols="_d_foo", literal="-foo"),))),
        ("foo.bar ", Query((term("foo", "bar", literal="foo.bar"),))),
        (".NET ", Query((term("net", literal=".net"),))),
        ("C++ ", Query((term("c", symbols="__c_pp", literal="c++"),))),
        ("C+", Query((term("c", symbols="__c_p*", literal="c+"),))),
        ('x -"C#"', Query((term("x"),), (term("c", symbols="__c_h", literal="c#"),))),
        ("a --dry-run ", Query((term("a"), term("dry", "run", symbols="_dd_dry", literal="--dry-run")))),
        ("—dry ", Query((term("dry", symbols="_dd_dry", literal="—dry"),))),
        ("npm -v ", Query((term("npm"), term("v", symbols="_d_v", literal="-v")))),
        ("x -40 ", Query((term("x"), term("40", symbols="_d_40", literal="-40")))),
        ("useEffect", Query((term("useeffect", prefix=True),))),
        ("model:GLM x ", Query((term("x"),), model="glm")),
        ('Model:"GLM 4" x ', Query((term("x"),), model="glm 4")),
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


@pytest.mark.parametrize(
    "typed", ["", " ", '"', "-", "--", "C++"[1:], "#", "*", "''", "()", ":", "\0", '-""', "\ud800"]
)
def test_a_query_without_words_is_empty(typed: str) -> None:
    assert parse(typed, UTC).is_empty


def test_a_day_begins_in_the_persons_time_zone() -> None:
    zone = timezone(timedelta(hours=9))
    assert parse("before:2026-02-03", zone).before == datetime(2026, 2, 3, tzinfo=zone)


def test_a_long_query_is_cut() -> None:
    found = parse("word " * 1_000, UTC)
    assert len(found.terms) == MAX_QUERY_TERMS
    assert len(parse("x" * 1_000, UTC).terms[0].words[0]) <= MAX_QUERY_CHARS
