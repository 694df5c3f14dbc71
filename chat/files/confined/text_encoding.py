"""The text of a file of unknown encoding."""

import re
from collections.abc import Iterator
from contextlib import suppress

from .problem import Problem
from .unicode_text import (
    REPLACEMENT,
    has_binary_byte,
    is_binary,
    mark_of,
    mostly_utf8,
    wide_encoding,
    with_appended_ascii,
)

# Encodings that a text names itself: a page, XML, CSS, a line for editors, as Python and Emacs have it.
DECLARATION = re.compile(
    rb"""<meta\b[^>]{1,200}?charset\s*=\s*["']?\s*([\w.:-]{2,30})
    |\A\s*<\?xml\b[^>]{1,100}?\bencoding\s*=\s*["']([\w.:-]{2,30})
    |\A@charset\s+"([\w.:-]{2,30})"
    |\A(?:[^\n]*\n)?[ \t\f]*(?:[#;%*]|//|--|/\*|<!--|"|\.\.)[^\n]{0,200}?coding[:=][ \t]*([\w.-]{2,30})""",
    re.IGNORECASE | re.VERBOSE,
)
DECLARATION_BYTES = 2_048
# What authors call an encoding is often a smaller one than they write, as browsers assume as well,
# https://encoding.spec.whatwg.org/#names-and-labels.
WIDER = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "iso-8859-8-i": "iso-8859-8",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "big5": "big5hkscs",
    "unicode-1-1-utf-7": "utf-7",
}
# Not all of Python's encodings: some are none of text.
CHARSET = re.compile(r"(?:utf|iso|windows|cp|koi8|shift_jis|euc|gb|big5|hz|mac|ibm|johab).{0,20}")
# In seven bits; what the others are told by.
SHIFTS, SEVEN_BITS = re.compile(rb"\x1b\$[@B]|\x1b\$\(D"), "iso2022_jp_ext"
LATIN_IN_UTF8 = re.compile(rb"[\xc3-\xc9][\x80-\xbf]")
NOT_LATIN = re.compile("[^\0-\u024f\u2000-\u20cf\u2122]")
BYTES_FOR_A_WRONG_ONE = 500  # rather replaced than the whole file refused
TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]{0,200}\x07)")
END_OF_FILE = b"\x1a"  # of DOS
BINARY_CHARACTERS = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]+")


def decoded(content: bytes, declared: str = "") -> str:
    """Return the text in its encoding: Unicode, the declared one, or the one that is certain by its letters.

    `declared`: from outside the content. Raises Problem: "type" for no text, "encoding" if it is uncertain.
    """
    if encoding := mark_of(content) or wide_encoding(content):
        text = content.decode(encoding, "replace").removeprefix("\ufeff")
        text = with_appended_ascii(text, content, encoding) if encoding.startswith("utf-16") else text
        return without_terminal_codes(text)
    if is_binary(content):
        raise Problem("type")
    text = _read(content.rstrip(END_OF_FILE), declared or _declared(content))
    return BINARY_CHARACTERS.sub(REPLACEMENT, without_terminal_codes(text))


def _read(content: bytes, declared: str) -> str:
    name = codec(declared)
    for encoding in (*_in_seven_bits(content, name), "utf-8", name):
        try:
            if encoding:
                return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    if (text := mostly_utf8(content)) is not None:
        return text
    for text in _likely(content, name):
        if text is not None:
            return text
    raise Problem("type" if has_binary_byte(content) else "encoding")


def _in_seven_bits(content: bytes, declared: str | None) -> list[str]:
    """Return the encoding of bytes that are ASCII only by their look."""
    if not content.isascii():
        return []
    if SHIFTS.search(content):
        return [SEVEN_BITS]
    return [declared] if declared in ("utf-7", "hz") else []


def _likely(content: bytes, declared: str | None) -> Iterator[str | None]:
    """Return the text in the declared encoding if little is wrong in it; the certain one; mostly ASCII."""
    from .legacy_encoding import guessed

    few = len(content) // BYTES_FOR_A_WRONG_ONE
    with suppress(LookupError):
        text = content.decode(declared or "ascii", "replace")
        yield text if declared and text.count(REPLACEMENT) <= max(1, few) else None
    yield _with_lines_of_utf8(content)
    yield guessed(content)
    text = content.decode("ascii", "replace")
    yield text if text.count(REPLACEMENT) <= few else None


def _with_lines_of_utf8(content: bytes) -> str | None:
    """Return the text in an older encoding of Latin letters, in which programs of today wrote some lines."""
    from .legacy_encoding import guessed

    lines = content.split(b"\n")
    foreign = [not line.isascii() and LATIN_IN_UTF8.sub(b"", line).isascii() for line in lines]
    if not any(foreign):
        return None
    older = guessed(b"\n".join(line for line, is_utf8 in zip(lines, foreign, strict=True) if not is_utf8))
    if older is None or NOT_LATIN.search(older):
        return None
    rest = iter(older.split("\n"))
    return "\n".join(
        line.decode() if is_utf8 else next(rest) for line, is_utf8 in zip(lines, foreign, strict=True)
    )


def codec(label: str) -> str | None:
    """Return Python's name of an encoding of text by its label in the world; None for other words."""
    name = label.strip().lower()
    name = WIDER.get(name, name)
    return name if CHARSET.fullmatch(name) else None


def _declared(content: bytes) -> str:
    found = DECLARATION.search(content[:DECLARATION_BYTES])
    return next(filter(None, found.groups())).decode() if found else ""


def without_terminal_codes(text: str) -> str:
    """Return the text without the codes of terminals: a backspace has the next letter replace the last."""
    text = TERMINAL_CODES.sub("", text)
    if "\b" not in text:
        return text
    written: list[str] = []
    back = 0  # characters of the line that the cursor stands before
    for character in text:
        if character == "\b":
            back += back < len(written) and written[-1 - back] != "\n"
        elif back and character != "\n":
            written[-back] = character
            back -= 1
        else:
            written.append(character)
            back = 0
    return "".join(written)
