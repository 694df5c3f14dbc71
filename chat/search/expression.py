"""Full-text search expressions of SQLite (FTS5) and PostgreSQL (tsquery, tsvector).

Words hold only letters, digits and underscores, so they need no escaping. Each document is also indexed under
a tag, which names its owner and its kind. A tag begins with an underscore, so no word of a text can equal it.
"""

from collections.abc import Sequence

from .query import Query, Term


def message_tag(owner: int) -> str:
    """Return the tag of the messages of this user."""
    return f"_m{owner}"


def title_tag(owner: int) -> str:
    """Return the tag of the titles of this user's conversations."""
    return f"_t{owner}"


def fts5(query: Query, tag: str = "") -> str:
    """Return the query as an FTS5 expression: https://www.sqlite.org/fts5.html#full_text_query_syntax"""
    wanted = [f'"{tag}"'] if tag else []
    wanted += [_fts5_term(term) for term in query.terms]
    found = " AND ".join(wanted)
    if query.excluded:
        found = f"({found}) NOT ({' OR '.join(map(_fts5_term, query.excluded))})"
    return found


def tsquery(query: Query, tag: str = "") -> str:
    """Return the query as a tsquery.

    https://www.postgresql.org/docs/current/datatype-textsearch.html#DATATYPE-TSQUERY
    """
    wanted = [f"'{tag}'"] if tag else []
    wanted += [_tsquery_term(term) for term in query.terms]
    wanted += [f"!{_tsquery_term(term)}" for term in query.excluded]
    return " & ".join(wanted)


def tsvector(words: Sequence[str]) -> str:
    """Return the words and their positions, counted from 1, as a PostgreSQL `tsvector`."""
    positions: dict[str, list[str]] = {}
    for at, word in enumerate(words, 1):
        positions.setdefault(word, []).append(str(at))
    return " ".join(f"'{word}':{','.join(at)}" for word, at in positions.items())


def _fts5_term(term: Term) -> str:
    phrase = f'"{" ".join(term.words)}"{" *" if term.prefix else ""}'
    symbols = [f'"{word.removesuffix("*")}"{" *" if word.endswith("*") else ""}' for word in term.symbols]
    return f"({' AND '.join([phrase, *symbols])})" if symbols else phrase


def _tsquery_term(term: Term) -> str:
    *first, last = (f"'{word}'" for word in term.words)
    phrase = " <-> ".join([*first, f"{last}:*" if term.prefix else last])
    symbols = [f"'{word.removesuffix('*')}'{':*' if word.endswith('*') else ''}" for word in term.symbols]
    return f"({' & '.join([phrase, *symbols])})"
