"""JavaScript without its comments and indents, told apart from what only looks like them."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")
    |(?P<word>[\w$]+)
    |(?P<space>\s+)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:\\.|\$(?!\{)|[^\\`$])*(`|\$\{)", re.DOTALL)  # up to its end or its next hole
_EXPRESSION = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/\w*")
# After these a slash begins a regular expression; after any other word, and after a bracket, it divides.
_BEFORE_EXPRESSION = {
    "await", "case", "delete", "do", "else", "in", "instanceof", "new", "of", "return", "throw", "typeof",
    "void", "yield",
}  # fmt: skip


class NotUnderstood(Exception):
    """A text without an end, or a slash that only a parser understands."""


def without_comments(source: str) -> str:
    """The same program in fewer bytes: comments, indents and blank lines go, line ends stay.

    A comment between code on one line stays, and so does a licence (`/*!`). A module that this reader does
    not understand comes back as it was.
    """
    try:
        tokens = list(_tokens(source))
    except NotUnderstood:
        return source
    kept: list[str] = []
    for at, (kind, text) in enumerate(tokens):
        if kind == "comment" and not text.startswith("/*!") and _ends_its_line(tokens, at):
            _drop_indent(kept)
        else:
            kept.append(_after_comment(kept, text) if kind == "space" else text)
    return "".join("\n" if text.isspace() and "\n" in text else text for text in kept).removeprefix("\n")


def _ends_its_line(tokens: list[tuple[str, str]], at: int) -> bool:
    if at + 1 == len(tokens):
        return True
    kind, text = tokens[at + 1]
    return kind == "space" and "\n" in text


def _drop_indent(kept: list[str]) -> None:
    if kept and kept[-1].isspace():
        kept[-1] = kept[-1].rstrip(" \t")


def _after_comment(kept: list[str], space: str) -> str:
    """White space whose line end the dropped comment's own line end already was."""
    if not kept or (kept[-1].isspace() and kept[-1].endswith("\n")):
        return space.partition("\n")[2]
    return space


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    """Kind and text of each piece, which joined are the source again. Raises NotUnderstood."""
    at, before = 0, ""
    holes: list[int] = []  # braces open inside each hole of a template that is being read
    while at < len(source):
        found = _expression(source, at, before) or _TOKEN.match(source, at)
        assert found
        kind, text = found.lastgroup or "text", found[0]
        if text == "`" or (text == "}" and holes and not holes[-1]):
            text, open_hole = _template(source, at)
            holes = (holes[:-1] if source[at] == "}" else holes) + ([0] if open_hole else [])
            kind = "text"
        elif holes and text in ("{", "}"):
            holes[-1] += 1 if text == "{" else -1
        elif kind == "mark" and text in "'\"":
            raise NotUnderstood(at)
        yield kind, text
        at += len(text)
        before = before if kind in ("comment", "space") else text
    if holes:
        raise NotUnderstood(at)


def _expression(source: str, at: int, before: str) -> re.Match[str] | None:
    """The regular expression that begins here. Raises NotUnderstood where only a whole parser could tell."""
    if source[at] != "/" or source[at + 1 : at + 2] in ("/", "*"):
        return None
    if before in (")", "}") and "/" in source[at + 1 :].partition("\n")[0]:
        raise NotUnderstood(at)
    divides = before not in _BEFORE_EXPRESSION and re.search(r"[\w$)\]}'\"`]$", before)
    return None if divides else _EXPRESSION.match(source, at)


def _template(source: str, at: int) -> tuple[str, bool]:
    """A template's next stretch of text, from its backtick or the end of a hole; whether a hole follows."""
    found = _TEMPLATE.match(source, at + 1)
    if found is None:
        raise NotUnderstood(at)
    return source[at : found.end()], found[1] == "${"
