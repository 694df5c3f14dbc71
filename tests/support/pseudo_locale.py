"""Two languages made up of English, to see what no translator was given, and what does not fit.

One reads ⟦Šéñđ····⟧, with accents and 40 % longer; the other, of Hebrew letters, from right to left. Only
what the extraction of messages finds is translated, and what Django itself has translated.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.translation import trans_real
from django.utils.translation.template import templatize

ROOT = Path(__file__).parents[2]
LONGER, LEFTWARD = "de", "he"  # languages that Django has, for it offers no others
ACCENTS = str.maketrans("aceinorsuyzACEINORSUYZ", "åçéïñöřšüýžÅÇÉÏÑÖŘŠÜÝŽ")
HEBREW = str.maketrans("abcdefghijklmnopqrstuvwxyz", "אבגדהוזחטיכלמנסעפצקרשתאבגד")
KEPT = re.compile(r"(%\(\w+\)[sd]|%[sd%]|\{\w*\}|<[^>]+>|&\w+;)")  # what programs read in a message
IN_A_CONTEXT = {"pgettext", "pgettext_lazy"}
CALLS = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"} | IN_A_CONTEXT
IN_CONTEXT = "\4"  # between a context, as of a date's format, and its message
FORMATS = ("date", "dollars", "key")  # contexts of messages that are no words
STRING = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
IN_TEMPLATE = re.compile(rf"(?:gettext|_|ngettext)\(u?{STRING}(?:, u?{STRING}, count)?\)")


@cache
def messages() -> dict[str, str]:
    """Return {message: its plural, "" for none} of all that `makemessages` hands to translators.

    A message with a context follows it and `IN_CONTEXT`.
    """
    found: dict[str, str] = {}
    for folder in ("chat", "chatsite"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "gettext" in (source := path.read_text("utf-8")):  # a tree of all the others takes seconds
                _collect(found, _of_python(source))
    for path in sorted((ROOT / "templates").rglob("*.html")):
        _collect(found, _of_template(path.read_text("utf-8")))
    return found


@cache
def extracted() -> frozenset[str]:
    """Each message and each plural, without those that no made-up language rewrites."""
    found = {*messages(), *messages().values()} - {""}
    return frozenset(each for each in found if IN_CONTEXT not in each or not each.startswith(FORMATS))


def _collect(found: dict[str, str], texts: Iterator[list[str]]) -> None:
    for message, *plural in texts:
        found[message] = plural[0] if plural else found.get(message, "")


def _of_template(source: str) -> Iterator[list[str]]:
    for match in IN_TEMPLATE.finditer(templatize(source)):
        yield [ast.literal_eval(written) for written in match.groups() if written]


def _of_python(source: str) -> Iterator[list[str]]:
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in CALLS:
            texts = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
            if strings := [text for text in texts if isinstance(text, str)]:
                yield [IN_CONTEXT.join(strings)] if call.func.id in IN_A_CONTEXT else strings


def longer(message: str) -> str:
    return f"⟦{_rewritten(message, ACCENTS)}{'·' * round(len(message) * 0.4)}⟧"


def leftward(message: str) -> str:
    return f"⟦{_rewritten(message.lower(), HEBREW)}⟧"


def _rewritten(message: str, letters: dict[int, int]) -> str:
    parts = KEPT.split(message)
    return "".join(part if place % 2 else part.translate(letters) for place, part in enumerate(parts))


class PseudoTranslation(trans_real.DjangoTranslation):
    """Stands in for both languages; everything else stays as Django has it."""

    def __init__(self, language: str, *options: Any, **more: Any) -> None:
        super().__init__(language, *options, **more)
        self._rewrite = {LONGER: longer, LEFTWARD: leftward}.get(language)
        django = (key for key, _ in self._catalog.items())
        self._known = extracted() | {key if isinstance(key, str) else key[0] for key in django}

    def gettext(self, message: str) -> str:
        if self._rewrite is None:
            return super().gettext(message)
        return self._rewrite(message.rpartition("\4")[2]) if message in self._known else message

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        if self._rewrite is None:
            return super().ngettext(singular, plural, number)
        message = singular if number == 1 else plural
        return self._rewrite(message.rpartition("\4")[2]) if singular in self._known else message


def install() -> None:
    trans_real.DjangoTranslation = PseudoTranslation
