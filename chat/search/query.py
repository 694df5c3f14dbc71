"""Parsing of a typed search. There are no syntax errors: an unknown operator is searched for as words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from . import words

MAX_QUERY_CHARS = 300  # of a typed search; the rest is ignored
MAX_QUERY_TERMS = 16
MIN_PREFIX_CHARS = 2
QUERY_QUOTES = str.maketrans("“”„«»", '"""""')  # typographic quotation marks, which phones insert
# A minus excludes a word or a phrase. Before a number, one letter or another dash it is part of the word;
# names such as C++, .NET and @ann are words.
TOKEN = re.compile(
    r'(?P<minus>-(?="|[.@#]?[^\W\d_]\w|[^\W\d_][+#]))?(?:"(?P<phrase>[^"]*)(?:"|$)|(?P<bare>(?i:model):"[^"]+"|[^\s"]+))'
)
OPERATOR = re.compile(r"(model|before|after|in|is):(.+)", re.IGNORECASE)
DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class Term:
    """A phrase. With `prefix`, its last word matches every word that begins with it.

    `symbols`: words of the index that the text must have as well, see `words.with_symbols`; the last one ends
    with `*` if it may go on. `literal`: the term as it was typed, in lower case, if it has such characters.
    """

    words: tuple[str, ...]
    prefix: bool = False
    symbols: tuple[str, ...] = ()
    literal: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A search for messages and titles that have all `terms` and none of `excluded`.

    `before` and `after` limit the time of the message, or of the conversation's last change for a title.
    """

    terms: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()
    model: str = ""
    before: datetime | None = None
    after: datetime | None = None
    in_title: bool = False
    pinned: bool = False
    archived: bool = False

    @property
    def is_empty(self) -> bool:
        return self == Query()

    @property
    def has_filters(self) -> bool:
        """True if there are conditions that only the rows can answer, and not the index."""
        return bool(self.model or self.before or self.after or self.pinned or self.archived)


def parse(typed: str, zone: tzinfo) -> Query:
    """Return the query. Dates are days in `zone`.

    The last word is a prefix unless a space follows it, because it may still be being typed.
    """
    typed = typed.translate(QUERY_QUOTES)[:MAX_QUERY_CHARS]
    found = list(TOKEN.finditer(typed))[:MAX_QUERY_TERMS]
    filters: dict[str, Any] = {}
    wanted = []
    for each in (each for each in found if not each["minus"]):
        operator = OPERATOR.fullmatch(each["bare"] or "")
        if operator and (applied := _filter(operator[1].lower(), operator[2].strip('"').lower(), zone)):
            filters |= applied
        else:
            wanted.append(_term_of(each, unfinished=each is found[-1] and each.end() == len(typed)))
    terms, unwanted = _with_words(wanted), [each for each in found if each["minus"]]
    if terms or filters:
        return Query(terms, _with_words(map(_term_of, unwanted)), **filters)
    # `-rf` is a word to find.
    return Query(_with_words(_term_of(each, each["minus"] or "") for each in found))


def _with_words(terms: Iterable[Term]) -> tuple[Term, ...]:
    return tuple(term for term in terms if term.words)


def _filter(name: str, value: str, zone: tzinfo) -> dict[str, Any]:
    """Return the fields of the query that an operator sets; {} if the operator does not have this value."""
    match name, value:
        case "model", _:
            return {"model": value}
        case "before" | "after", _ if time := _time(value, zone):
            return {name: time}
        case "in", "title":
            return {"in_title": True}
        case "is", "pinned" | "archived":
            return {value: True}
    return {}


def _term_of(found: "re.Match[str]", before: str = "", *, unfinished: bool = False) -> Term:
    if found["phrase"] is not None:
        return _term(before + found["phrase"], unfinished=False)
    return _term(before + found["bare"], unfinished=unfinished or found["bare"].endswith("*"))


def _term(typed: str, *, unfinished: bool) -> Term:
    literal = typed.removesuffix("*").casefold()
    found = tuple(words.split(typed))
    is_prefix = unfinished and literal[-1:].isalnum() and len(found[-1]) >= MIN_PREFIX_CHARS
    symbols = words.with_symbols(typed)
    if unfinished and symbols:
        symbols[-1] += "*"
    return Term(found, is_prefix, tuple(symbols), "" if literal.replace(" ", "").isalnum() else literal)


def _time(date: str, zone: tzinfo) -> datetime | None:
    """Return the start of a day, month or year (2026-11-23, 2026-11, 2026); None for anything else."""
    found = DATE.fullmatch(date)
    if found is None:
        return None
    try:
        return datetime(int(found[1]), int(found[2] or 1), int(found[3] or 1), tzinfo=zone)
    except (ValueError, OverflowError):
        return None
