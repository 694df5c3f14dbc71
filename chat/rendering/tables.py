"""Pipes in code, which divide no cell of a table here: on GitHub, a row with such code loses words."""

import re

from .characters import PIPE

_CODE = re.compile(r"(?<![`\\])(?:`(?!`)[^`\n]+`(?!`)|``(?!`)[^\n]+?(?<!`)``(?!`))")
_OPEN_CODE = re.compile(r"(?<![`\\])`(?!`)[^`\n]*\Z")
_PIPE = re.compile(r"(?<!\\)\|")


def hide_pipes(source: str, *, growing: bool = False) -> str:
    """Return the source with a stand-in for each pipe in code, except escaped ones, which the parser knows.

    `growing`: more text follows, so that code may be open at the end.
    """
    if "|" not in source or "`" not in source:
        return source
    source = _CODE.sub(_hidden, source)
    if not growing:
        return source
    line = source.rfind("\n") + 1
    last = _CODE.sub(lambda code: " " * len(code[0]), source[line:])
    begun = _OPEN_CODE.search(last)
    at = line + (begun.start() if begun else len(last))
    return source[:at] + _PIPE.sub(PIPE, source[at:])


def _hidden(code: re.Match[str]) -> str:
    return _PIPE.sub(PIPE, code[0]) if "|" in code[0] else code[0]
