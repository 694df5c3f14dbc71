"""A question as HTML: its fenced code is drawn as code, and everything else stays as it was typed.

The text of the HTML is the text that was typed, character by character: the fences stay in it, unseen.
"""

import re
from collections.abc import Iterator
from html import escape

from .code_blocks import Budget, code_figure, highlighted, language_of
from .sanitise import clean

_FENCE = re.compile(r"^(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)(?:\n|\Z)", re.MULTILINE)


def question_html(text: str, budget: Budget | None = None) -> str:
    """Return the HTML of a question, sanitised if it is more than text."""
    budget = budget or Budget()
    out, done = [], 0
    for opening, closing in _fenced(text):
        out += [escape(text[done : opening.start()], quote=False), _drawn(opening, closing, budget)]
        done = closing.end()
    rest = escape(text[done:], quote=False)
    return clean("".join([*out, rest])) if out else rest


def _drawn(opening: re.Match[str], closing: re.Match[str], budget: Budget) -> str:
    language = language_of(opening["info"])
    marks, _, rest = (
        opening[0].partition(opening["info"][: len(language)]) if language else ("", "", opening[0])
    )
    caption = escape(opening["info"][: len(language)], quote=False)
    code = highlighted(opening.string[opening.end() : closing.start()], language, budget)
    return f"{_unseen(marks)}{code_figure(caption, _unseen(rest), code)}{_unseen(closing[0])}"


def _fenced(text: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield the fences that are closed. One that is not is no code yet, and neither is what follows it."""
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if opening is None:
            opening = fence
        elif fence["marks"].startswith(opening["marks"]) and not fence["info"].strip():
            yield opening, fence
            opening = None


def _unseen(typed: str) -> str:
    return typed and f'<span class="fence">{escape(typed, quote=False)}</span>'
