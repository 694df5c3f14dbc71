"""Redaction: the site's own secrets, known by value, are taken out of what others wrote before it goes out.

A shape tells long random strings only. The values are told once at the start (`conceal`), by whoever knows
the settings. They are found as they are, as the usual functions percent-encode and escape them, in base64 and
in hexadecimal, in any case, also where quotes, spaces or line breaks stand between their parts, and of a long
one each part that is long enough.
"""

import base64
import html
import json
import string
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

SHORTEST_SECRET_CHARS = 6  # a shorter one is a word that stands everywhere
LONG_SECRET_CHARS = 16  # from here on a part of it is concealed as well
# The shortest parts. A mark tells that what stood there was right, so each is too long to be guessed.
PLAIN_PART_CHARS = 8
BASE64_PART_CHARS = 11  # of eight bytes
ENCODED_PART_CHARS = 16  # of eight bytes in hexadecimal, and of five or more that are percent-encoded
MARK = "…"
BETWEEN = str.maketrans("", "", string.whitespace + "\0\"'`\\+…\u200b\u200c\u200d\ufeff")


class Redactor:
    """Knows secrets, and takes them out of texts."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._sought: dict[int, set[str]] = {}  # by length

    def conceal(self, *secrets: str) -> None:
        """Know these from now on; an empty one, or one that is a word, is none."""
        for secret in secrets:
            if len(secret) < SHORTEST_SECRET_CHARS or secret in self._known:
                continue
            self._known.add(secret)
            for form, part_chars in _forms(secret).items():
                self._learn(_squeezed(form), part_chars if len(secret) >= LONG_SECRET_CHARS else len(form))

    def redact(self, text: str) -> str:
        """The text with a mark instead of each secret in it."""
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
        """Each part of that many characters, or all of a shorter one."""
        length = min(part_chars, len(form))
        if length:
            parts = {form[start : start + length] for start in range(len(form) - length + 1)}
            self._sought.setdefault(length, set()).update(parts)


def _forms(secret: str) -> dict[str, int]:
    """A secret as it may be written, each with the length of the shortest part that is concealed."""
    raw = secret.encode("utf-8", "surrogatepass")
    encoded = {quote(secret, safe="", errors="replace"), quote_plus(secret, errors="replace")}
    encoded |= {quote(secret, errors="replace"), json.dumps(secret)[1:-1], html.escape(secret), raw.hex()}
    forms = dict.fromkeys(encoded, ENCODED_PART_CHARS) | dict.fromkeys(_base64(raw), BASE64_PART_CHARS)
    return forms | {secret: PLAIN_PART_CHARS}


def _base64(raw: bytes) -> Iterator[str]:
    """Within base64 the bytes begin at one of three places."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        # The first and the last character hold bits of what stands beside it.
        inner = encoded[(0, 2, 3)[before] : len(encoded) - ((before + len(raw)) % 3 > 0)]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


def _squeezed(text: str) -> str:
    """Without what may stand between the parts of a secret, and without case, as long as it is then."""
    return _lowered(text.translate(BETWEEN))


def _lowered(text: str) -> str:
    """Each character by itself: `"İ".lower()` has two."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(each.lower() if len(each.lower()) == 1 else each for each in text)


def _places(text: str) -> list[int]:
    """Where in the text each character of its squeezed form stands."""
    return [place for place, character in enumerate(text) if ord(character) not in BETWEEN]


def _marked(text: str, hits: list[int]) -> Iterator[str]:
    """The text with one mark for each run of hits, whatever stood between them."""
    after, last = 0, None
    hit = set(hits)
    for place in sorted(hit):
        joined = last is not None and all(ord(each) in BETWEEN for each in text[last + 1 : place])
        if not joined:
            yield text[after:place]
            yield MARK
        after, last = place + 1, place
    yield text[after:]


_site = Redactor()
conceal = _site.conceal
redact = _site.redact
