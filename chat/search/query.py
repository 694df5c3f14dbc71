"""Parsing of a typed search. There are no syntax errors: an unknown operator is searched for as words."""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

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


@dataclass(slots=True)
class _Reader:
    zone: tzinfo
    query: Query = field(default_factory=Query)

    def read(self, typed: str) -> Query:
        found = list(TOKEN.finditer(typed))[:MAX_QUERY_TERMS]
        wanted = [each for each in found if not each["minus"]]
        for each in wanted:
            self._take(each, unfinished=each is found[-1] and each.end() == len(typed))
        unwanted = [self._term(each) for each in found if each["minus"]]
        if self.query.is_empty:  # nothing to exclude from: `-rf` alone is a word to find
            terms = [self._term(each, each["minus"] or "") for each in found]
            return replace(self.query, terms=tuple(term for term in terms if term.words))
        return replace(self.query, excluded=tuple(term for term in unwanted if term.words))

    def _take(self, found: "re.Match[str]", *, unfinished: bool) -> None:
        if (
            found["bare"]
            and (operator := OPERATOR.fullmatch(found["bare"]))
            and self._apply(operator[1], operator[2].strip('"'))
        ):
            return
        term = self._term(found, unfinished=unfinished)
        if term.words:
            self.query = replace(self.query, terms=(*self.query.terms, term))

    @staticmethod
    def _term(found: "re.Match[str]", before: str = "", *, unfinished: bool = False) -> Term:
        if found["phrase"] is not None:
            return _term(before + found["phrase"], unfinished=False)
        return _term(before + found["bare"], unfinished=unfinished or found["bare"].endswith("*"))

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
