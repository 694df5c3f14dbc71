"""The text of a file of unknown encoding."""

import codecs
import re

from .problem import Problem

CHARSET = re.compile(rb"<meta[^>]{1,200}?charset\s*=\s*[\"']?([A-Za-z0-9_-]{2,20})", re.IGNORECASE)
CHARSETS = re.compile(
    r"utf-8|iso-8859-\d+|windows-125\d|koi8-[ru]|shift_jis|euc-(jp|kr)|iso-2022-jp|gb(2312|k|18030)|big5"
)
TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]{0,200}\x07)")
BINARY_CHARACTER = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")


def decoded(content: bytes) -> str:
    """Return the text in its encoding: by its mark, else UTF-8, else UTF-16, else Windows-1252 or Latin-1."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            return checked(content.decode(encoding, "replace"))
    declared = CHARSET.search(content[:2_048])
    named = declared[1].decode().lower() if declared else ""
    nulls = (content[::2].count(0), content[1::2].count(0))
    wide = "utf-16-be" if nulls[0] > nulls[1] else "utf-16-le"
    for encoding in ("utf-8", named if CHARSETS.fullmatch(named) else "utf-8", wide, "cp1252", "latin-1"):
        if encoding == wide and not any(nulls):
            continue
        try:
            return checked(content.decode(encoding))
        except (UnicodeDecodeError, LookupError, Problem):
            continue
    raise Problem("type")


def checked(text: str) -> str:
    """Return the text without the codes of terminals. Raises Problem if it is no text."""
    if BINARY_CHARACTER.search(text):
        raise Problem("type")
    return TERMINAL_CODES.sub("", text)
