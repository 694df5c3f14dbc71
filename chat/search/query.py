"""Parsing of a typed search. There are no syntax errors: an unknown operator is searched for as words."""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from . import words

MAX_QUERY_CHARS = 300  # of a typed search; the rest is ignored
MAX_QUERY_TERMS = 16
MIN_PREFIX_CHARS = 3  # for a shorter prefix the database would read most of the index
QUERY_QUOTES = str.maketrans("“”„«»", '"""""')  # typographic quotation marks, which phones insert
TOKEN = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)(?:"|$)|(?P<bare>[^\s"]+))')
OPERATOR = re.compile(r"(model|before|after|in|is):(.+)", re.IGNORECASE)
DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class Term:
    """A phrase. With `prefix`, its last word matches every word that begins with it."""

    words: tuple[str, ...]
    prefix: bool = False


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


@dataclass(slots=True)
class _Reader:
    zone: tzinfo
    query: Query = field(default_factory=Query)

    def read(self, typed: str) -> Query:
        found = list(TOKEN.finditer(typed))[:MAX_QUERY_TERMS]
        for each in found:
            is_last = each is found[-1] and each.end() == len(typed)
            self._take(each, is_last=is_last)
        return self.query

    def _take(self, found: "re.Match[str]", *, is_last: bool) -> None:
        phrase, bare = found["phrase"], found["bare"]
        if phrase is not None:
            self._add(Term(tuple(words.split(phrase))), excluded=bool(found["minus"]))
        elif (
            not found["minus"] and (operator := OPERATOR.fullmatch(bare)) and self._apply(*operator.groups())
        ):
            return
        else:
            unfinished = is_last and not found["minus"]
            self._add(_term(bare, unfinished=unfinished), excluded=bool(found["minus"]))

    def _add(self, term: Term, *, excluded: bool) -> None:
        if not term.words:
            return
        if excluded:
            self.query = replace(self.query, excluded=(*self.query.excluded, term))
        else:
            self.query = replace(self.query, terms=(*self.query.terms, term))

    def _apply(self, name: str, value: str) -> bool:
        """Apply an operator. Return False if the operator does not have this value."""
        match name.lower(), value.lower():
            case "model", model:
                self.query = replace(self.query, model=model)
            case "before", date if time := _time(date, self.zone):
                self.query = replace(self.query, before=time)
            case "after", date if time := _time(date, self.zone):
                self.query = replace(self.query, after=time)
            case "in", "title":
                self.query = replace(self.query, in_title=True)
            case "is", "pinned":
                self.query = replace(self.query, pinned=True)
            case "is", "archived":
                self.query = replace(self.query, archived=True)
            case _:
                return False
        return True


def parse(typed: str, zone: tzinfo) -> Query:
    """Return the query. Dates are days in `zone`.

    The last word is a prefix unless a space follows it, because it may still be being typed.
    """
    return _Reader(zone).read(typed.translate(QUERY_QUOTES)[:MAX_QUERY_CHARS])


def _term(bare: str, *, unfinished: bool) -> Term:
    found = tuple(words.split(bare))
    is_prefix = bool(found) and (bare.endswith("*") or (unfinished and bare[-1].isalnum()))
    return Term(found, is_prefix and len(found[-1]) >= MIN_PREFIX_CHARS)


def _time(date: str, zone: tzinfo) -> datetime | None:
    """Return the start of a day, month or year (2026-11-23, 2026-11, 2026); None for anything else."""
    found = DATE.fullmatch(date)
    if found is None:
        return None
    try:
        return datetime(int(found[1]), int(found[2] or 1), int(found[3] or 1), tzinfo=zone)
    except (ValueError, OverflowError):
        return None
