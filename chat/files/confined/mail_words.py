"""The words of mail: bytes in a declared character set, and encoded headers, also such that break rules."""

import binascii
import re
from collections.abc import Iterator
from contextlib import suppress

from .problem import Problem
from .text_encoding import codec, decoded

ENCODED_WORD = re.compile(r"=\?([^?\s*]{1,40})(?:\*[^?\s]*)?\?([bq])\?([^?\r\n]*)\?=", re.IGNORECASE)
FOLD = re.compile(r"\r?\n[ \t]*")
# What programs declare without looking; in these, text is hardly ever valid UTF-8.
OFTEN_WRONG = ("cp1252", "iso-8859-15")
NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")


def decoded_as(content: bytes, charset: str | None) -> str:
    """Return the text in its declared character set, or in another one if it cannot be in that."""
    if name := codec(charset or ""):
        if name in OFTEN_WRONG and not content.isascii():
            with suppress(UnicodeDecodeError):
                return content.decode()
        try:
            return content.decode(name)
        except (UnicodeDecodeError, LookupError):
            pass
    try:
        return decoded(content)
    except Problem:
        return content.decode("utf-8", "replace")


def header_text(raw: str) -> str:
    """Return a header in words. `raw`: as the parser has it, bytes that are not ASCII as surrogates."""
    if not raw.isascii():
        raw = decoded_as(raw.encode("utf-8", "surrogateescape"), None)
    raw = FOLD.sub(" ", raw)
    words: list[tuple[str, bytes]] = []  # encoded ones that follow each other, in one character set
    text, end = "", 0
    for found in ENCODED_WORD.finditer(raw):
        between = raw[end : found.start()]
        charset, content = found[1].lower(), _word_bytes(found[2], found[3])
        if words and not between.strip() and words[-1][0] == charset:
            words[-1] = (charset, words[-1][1] + content)  # a character may be divided between two words
        elif words and not between.strip():
            words.append((charset, content))
        else:
            text += "".join(_decoded_words(words)) + between
            words = [(charset, content)]
        end = found.end()
    return " ".join((text + "".join(_decoded_words(words)) + raw[end:]).split())


def _decoded_words(words: list[tuple[str, bytes]]) -> Iterator[str]:
    return (decoded_as(content, charset) for charset, content in words)


def _word_bytes(encoding: str, text: str) -> bytes:
    content = text.encode("utf-8", "replace")
    if encoding in "bB":
        content = NO_BASE64.sub(b"", content)
        content = content[: len(content) - (len(content) % 4 == 1)]
        return binascii.a2b_base64(content + b"=" * (-len(content) % 4))
    return binascii.a2b_qp(content, header=True)
