"""Redaction of the site's own secrets in texts written by others, such as errors, before they are output.

Secrets are recognised by value, because a pattern recognises only long random strings. The application
registers the values at startup (`conceal`). They are found verbatim, percent-encoded or escaped by the usual
functions, in base64 and in hexadecimal; in upper or lower case; and with quotes, spaces or line breaks inside
them. Of a long secret, every sufficiently long part is found too.
"""

import base64
import html
import json
import string
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

MIN_SECRET_CHARS = 6  # a shorter one may be a common word
LONG_SECRET_CHARS = 16  # from this length on, parts of a secret are redacted as well
# The lengths of the shortest parts that are redacted. The mark confirms a guess, so each part must be too
# long to be guessed.
PLAIN_PART_CHARS = 8
BASE64_PART_CHARS = 11  # encode eight bytes
ENCODED_PART_CHARS = 16  # encode eight bytes in hexadecimal, and at least five if percent-encoded
REDACTION_MARK = "…"
WITHOUT_SEPARATORS = str.maketrans("", "", string.whitespace + "\0\"'`\\+…\u200b\u200c\u200d\ufeff")


class Redactor:
    """A set of secrets, and a search for them in texts."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._sought: dict[int, set[str]] = {}  # by length

    def conceal(self, *secrets: str) -> None:
        """Register secrets; those shorter than MIN_SECRET_CHARS are ignored."""
        for secret in secrets:
            if len(secret) < MIN_SECRET_CHARS or secret in self._known:
                continue
            self._known.add(secret)
            for form, part_chars in _forms(secret).items():
                self._learn(_squeezed(form), part_chars if len(secret) >= LONG_SECRET_CHARS else len(form))

    def redact(self, text: str) -> str:
        """Return the text with MARK in place of each secret."""
        if not self._known:
            return text
        squeezed, places = _squeezed(text), None
        found = bytearray(len(squeezed))
        for length, forms in self._sought.items():
            for start in range(len(squeezed) - length + 1):
                if squeezed[start : start + length] in forms:
                    found[start : start + length] = b"\1" * length
        if not any(found):
            return text
        places = _places(text)
        return "".join(_marked(text, [place for place, hit in zip(places, found, strict=True) if hit]))

    def _learn(self, form: str, part_chars: int) -> None:
        """Register each part of `part_chars` characters, or all of a shorter form."""
        length = min(part_chars, len(form))
        if length:
            parts = {form[start : start + length] for start in range(len(form) - length + 1)}
            self._sought.setdefault(length, set()).update(parts)


def _forms(secret: str) -> dict[str, int]:
    """Return the encodings of a secret, each with the length of its shortest part that is redacted."""
    raw = secret.encode("utf-8", "surrogatepass")
    encoded = {quote(secret, safe="", errors="replace"), quote_plus(secret, errors="replace")}
    encoded |= {quote(secret, errors="replace"), json.dumps(secret)[1:-1], html.escape(secret), raw.hex()}
    forms = dict.fromkeys(encoded, ENCODED_PART_CHARS) | dict.fromkeys(_base64(raw), BASE64_PART_CHARS)
    return forms | {secret: PLAIN_PART_CHARS}


def _base64(raw: bytes) -> Iterator[str]:
    """Yield the base64 encodings of the bytes at each of the three possible offsets in a longer text."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        # Without the first and last characters that also encode bits of the neighbouring bytes.
        inner = encoded[(0, 2, 3)[before] : len(encoded) - ((before + len(raw)) % 3 > 0)]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


def _squeezed(text: str) -> str:
    """Return the text in lower case without separators; each other character stays one."""
    return _lowered(text.translate(WITHOUT_SEPARATORS))


def _lowered(text: str) -> str:
    """Return the text in lower case with the same length: "İ", whose lower case has two characters, stays."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(each.lower() if len(each.lower()) == 1 else each for each in text)


def _places(text: str) -> list[int]:
    """Return the index in the text of each character of its squeezed form."""
    return [place for place, character in enumerate(text) if ord(character) not in WITHOUT_SEPARATORS]


def _marked(text: str, hits: list[int]) -> Iterator[str]:
    """Yield the text with one mark for each run of hits, which separators do not interrupt."""
    after, last = 0, None
    hit = set(hits)
    for place in sorted(hit):
        joined = last is not None and all(ord(each) in WITHOUT_SEPARATORS for each in text[last + 1 : place])
        if not joined:
            yield text[after:place]
            yield REDACTION_MARK
        after, last = place + 1, place
    yield text[after:]


_site = Redactor()
conceal = _site.conceal
redact = _site.redact
