"""Pipes that divide no cell of a table here: those in code, and those that a row has too many.

On GitHub, a row with such a pipe loses the words behind its last column.
"""

import re

from .characters import PIPE

_CODE = re.compile(r"(?<![`\\])(?:`(?!`)[^`\n]+`(?!`)|``(?!`)[^\n]+?(?<!`)``(?!`))")
_OPEN_CODE = re.compile(r"(?<![`\\])`(?!`)[^`\n]*\Z")
_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITERS = re.compile(r"^[ \t>|:-]*-[ \t|:-]*$", re.MULTILINE)
_EDGES = " \t>"  # what stands before the first cell of a row, and behind its last one


def hide_pipes(source: str, *, growing: bool = False) -> str:
    """Return the source with a stand-in for each pipe in code, except escaped ones, which the parser knows.

    `growing`: more text follows, so that code may be open at the end.
    """
    if "|" not in source:
        return source
    if "`" not in source:
        return _hide_excess(source)
    source = _hide_excess(_CODE.sub(_hidden, source))
    if not growing:
        return source
    line = source.rfind("\n") + 1
    last = _CODE.sub(lambda code: " " * len(code[0]), source[line:])
    begun = _OPEN_CODE.search(last)
    at = line + (begun.start() if begun else len(last))
    return source[:at] + _PIPE.sub(PIPE, source[at:])


def _hidden(code: re.Match[str]) -> str:
    return _PIPE.sub(PIPE, code[0]) if "|" in code[0] else code[0]


def _hide_excess(source: str) -> str:
    """Return the source with a stand-in for each pipe by which a row has more cells than its table."""
    if not any("|" in found[0] for found in _DELIMITERS.finditer(source)):
        return source
    lines = source.split("\n")
    columns = 0  # of the table with the line; 0 outside of tables
    for at, line in enumerate(lines):
        if not line.strip(_EDGES):
            columns = 0
        elif columns:
            lines[at] = _with_columns(line, columns)
        elif at and "|" in line and "|" in lines[at - 1] and _DELIMITERS.match(line):
            columns = line.strip(_EDGES).strip("|").count("|") + 1
    return "\n".join(lines)


def _with_columns(row: str, columns: int) -> str:
    """Return a row of at most so many cells. Pipes without a space beside them divide its words first."""
    begin, end = len(row) - len(row.lstrip(_EDGES)), len(row.rstrip(_EDGES))
    pipes = [found.start() for found in _PIPE.finditer(row, begin + 1, end - 1)]
    excess = len(pipes) - (columns - 1)
    if excess <= 0:
        return row
    tight = [at for at in pipes if not (row[at - 1].isspace() or row[at + 1].isspace())]
    inside = {*tight}
    loose = [at for at in pipes if at not in inside]
    hidden = {*tight[-excess:], *loose[len(loose) - max(0, excess - len(tight)) :]}
    return "".join(PIPE if at in hidden else character for at, character in enumerate(row))
