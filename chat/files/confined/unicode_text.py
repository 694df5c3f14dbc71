"""Texts in Unicode: by their mark, without one, and UTF-8 with bytes that are not."""

import codecs
import re
import unicodedata
from functools import lru_cache, partial

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
