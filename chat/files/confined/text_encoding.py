"""The text of a file of unknown encoding: Unicode by its mark, without one, with wrong bytes, and others."""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial

from .problem import Problem

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
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
HEAD_BYTES = 4_096
# Texts hold other control characters: white space, and the escape and backspace of recorded terminals.
BINARY_BYTE = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
BINARY_RUN = re.compile(BINARY_BYTE.pattern + rb"+")
# A log with a few of them is still a text.
BYTES_FOR_A_BINARY_RUN, MOST_BINARY = 20, 1 / 4
NO_CHARACTER = {"Cc", "Cn", "Co", "Cs"}
COMMON = re.compile(r"[\t\n\r -~\u3000-\u3002\uff0c]")
# Pairs of ASCII bytes are ideographs as well, but many of them such as no national standard has.
PAIRED_ASCII = re.compile("[\u2c00-\u2c7f\u2e80-\u9fff]")
PAIRS_OF_ASCII, TEXT_OF_ASCII = re.compile("([\u0909-\u7e7e]{6,})(\ufffd?)"), re.compile(rb"[\t\n\r -~]+")
STANDARDS = ("gb2312", "big5", "euc_jp", "euc_kr")
RARE, MOST_RARE = 2, 1 / 8
# Surrogates that were encoded one by one, as Java and old databases do.
SURROGATES = re.compile(rb"\xed([\xa0-\xaf])([\x80-\xbf])\xed([\xb0-\xbf])([\x80-\xbf])")
SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
REPLACEMENT = "\ufffd"


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


def mark_of(content: bytes) -> str | None:
    """Return the encoding that a mark at the start names."""
    return next((encoding for mark, encoding in MARKS if content.startswith(mark)), None)


def wide_encoding(content: bytes) -> str | None:
    """Return the kind of UTF-16 or UTF-32, without a mark, in which the beginning of the content is text.

    In the wrong order of bytes, or of another file, some characters are not assigned, or none is common.
    """
    head = content[:HEAD_BYTES]
    if not has_binary_byte(head):
        return None
    counts = {encoding: _common_characters(head, encoding) for encoding in WIDE}
    best = max(WIDE, key=lambda encoding: counts[encoding])
    return best if counts[best] else None


def _common_characters(head: bytes, encoding: str) -> int:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)  # may end inside a character
    except UnicodeDecodeError:
        return 0
    rest = COMMON.sub("", text)
    return 0 if _has_none(rest) or _has_rare(rest) else len(text) - len(rest)


def _has_none(text: str) -> bool:
    """Return True if a code is no character."""
    return any(unicodedata.category(each) in NO_CHARACTER for each in set(text))


def _has_rare(text: str) -> bool:
    """Return True if many ideographs are such as no national standard has."""
    rare = min(sum(map(partial(_is_rare, standard), PAIRED_ASCII.findall(text))) for standard in STANDARDS)
    return rare > max(RARE, len(text) * MOST_RARE)


@lru_cache(maxsize=20_000)
def _is_rare(standard: str, character: str) -> bool:
    return not character.encode(standard, "ignore")


def with_appended_ascii(text: str, content: bytes, encoding: str) -> str:
    """Return a text of UTF-16 in which lines of ASCII that a program appended are no ideographs."""
    is_big = encoding == "utf-16-be" or content.startswith(codecs.BOM_UTF16_BE)
    order = "utf-16-be" if is_big else "utf-16-le"

    def read(found: re.Match[str]) -> str:
        pairs = found[1].encode(order) + (content[-1:] if found[2] else b"")
        is_ascii = TEXT_OF_ASCII.fullmatch(pairs) and (_has_rare(found[1]) or _has_none(found[1]))
        return pairs.decode() if is_ascii else found[0]

    return PAIRS_OF_ASCII.sub(read, text)


def is_binary(content: bytes) -> bool:
    """Return True if the bytes, not of UTF-16 or UTF-32, hold more than a few that no text has."""
    runs = BINARY_RUN.findall(content)
    too_many = len(runs) > max(1, len(content) // BYTES_FOR_A_BINARY_RUN)
    return too_many or sum(map(len, runs)) > len(content) * MOST_BINARY


def has_binary_byte(content: bytes) -> bool:
    return BINARY_BYTE.search(content) is not None


def mostly_utf8(content: bytes) -> str | None:
    """Return the text of UTF-8 with U+FFFD for bytes that are not; None if most of them are not.

    In texts of other encodings, sequences that are valid in UTF-8 are far rarer than others.
    """
    content = SURROGATE.sub(REPLACEMENT.encode(), SURROGATES.sub(_character, content))
    text = content.decode("utf-8", "replace")
    wrong = text.count(REPLACEMENT) - content.count(REPLACEMENT.encode())
    valid = len(text) - len(text.encode("ascii", "ignore")) - wrong
    return text if valid >= wrong else None


def _character(pair: re.Match[bytes]) -> bytes:
    return (
        pair[0].decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16").encode()
    )
